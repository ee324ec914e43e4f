import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  type ClientCapabilities,
  ElicitationCompleteNotificationSchema,
  type ElicitRequest,
  ElicitRequestSchema,
  type ElicitResult,
} from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';

/** In which ways a client can ask its user. */
export type ElicitationCapabilities = ClientCapabilities['elicitation'];
export type ElicitationHandler = (
  params: ElicitRequest['params'],
  signal: AbortSignal,
) => ElicitResult | Promise<ElicitResult>;

/** Goes from one address to the next with every request, as a balancer without affinity. */
function roundRobin(urls: readonly string[]): typeof fetch {
  let turn = 0;
  return (address, init) => {
    const { pathname } = new URL(address instanceof Request ? address.url : address);
    turn += 1;
    return fetch(`${urls[turn % urls.length]}${pathname}`, init);
  };
}

const resultSchema = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ type: z.literal('text'), text: z.string() })).min(1),
});

export interface CallResult {
  isError: boolean;
  value: Record<string, unknown>;
  /** The error in it, empty when there is none. */
  error: Record<string, unknown>;
}

/** The SDK's client with a simulated person who gives the configured answers. */
export async function connectElicitingClient(
  urls: readonly string[],
  token: string,
  {
    ways,
    answer = () => ({ action: 'cancel' }),
  }: { ways: ElicitationCapabilities; answer?: ElicitationHandler },
) {
  const elicitations: ElicitRequest['params'][] = [];
  const completed: string[] = [];
  const client = new Client(
    { name: 'Test <b>client</b>', version: '1' },
    { capabilities: { ...(ways && { elicitation: ways }) } },
  );
  if (ways) {
    client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
      elicitations.push(params);
      return answer(params, signal);
    });
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params }) => {
      completed.push(params.elicitationId);
    });
  }
  const transport = new StreamableHTTPClientTransport(new URL(`${urls[0]}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    fetch: roundRobin(urls),
  });
  await client.connect(transport);
  await client.listTools();
  return {
    client,
    questions: elicitations,
    completed,
    close: () => client.close(),
    async call(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<CallResult> {
      const result = await client.callTool({ name, arguments: args }, undefined, {
        ...(signal && { signal }),
      });
      return readResult(result);
    },
  };
}

export type ElicitingClient = Awaited<ReturnType<typeof connectElicitingClient>>;

/** What a result of a tool says. */
export function readResult(result: unknown): CallResult {
  const { isError = false, content } = resultSchema.parse(result);
  return readText(isError, content[0]?.text ?? '');
}

/** What the text of a result says. */
export function readText(isError: boolean, text: string): CallResult {
  const value = z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  return { isError, value, error: z.record(z.string(), z.unknown()).catch({}).parse(value['error']) };
}
