import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { z } from 'zod';
import { createInbox, type Inbox } from './inbox.ts';

const notification = z.looseObject({
  method: z.string(),
  params: z.looseObject({ id: z.string().optional(), content: z.string().optional() }),
});
const result = z.looseObject({
  isError: z.boolean().optional(),
  content: z.array(z.looseObject({ type: z.string(), text: z.string() })).min(1),
});

export type ToolNotification = z.infer<typeof notification>;

export interface ToolClient {
  /** Names of the available tools. */
  tools: string[];
  /** Notifications of the service, from the SSE stream. */
  inbox: Inbox<ToolNotification>;
  call<T>(name: string, args: Record<string, unknown>, schema: z.ZodType<T>): Promise<T>;
  close(): Promise<void>;
}

/** Connects the MCP SDK's client over Streamable HTTP and waits for its notification stream. */
export async function connectTools(base: string, token: string): Promise<ToolClient> {
  const streams = createInbox<number>();
  const transport = new StreamableHTTPClientTransport(new URL(`${base}/mcp`), {
    requestInit: { headers: { Authorization: `Bearer ${token}` } },
    async fetch(url, init) {
      const response = await fetch(url, init);
      if (init?.method === 'GET') streams.put(response.status);
      return response;
    },
  });
  const inbox = createInbox<ToolNotification>();
  const client = new Client({ name: 'demo', version: '1' });
  client.fallbackNotificationHandler = async (message) => inbox.put(notification.parse(message));
  await client.connect(transport);
  // The SDK opens the stream without reporting it; earlier notifications would be missed.
  await streams.first('the stream of notifications', (status) => status === 200);
  const { tools } = await client.listTools();

  return {
    tools: tools.map(({ name }) => name),
    inbox,
    async call(name, args, schema) {
      const { isError, content } = result.parse(await client.callTool({ name, arguments: args }));
      const text = content[0]?.text ?? '';
      if (isError) throw new Error(`the tool ${name} failed: ${text.slice(0, 300)}`);
      return schema.parse(JSON.parse(text));
    },
    close: () => client.close(),
  };
}
