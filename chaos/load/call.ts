import { z } from 'zod';
import { type Client, createClient } from '../../packages/client/src/client.ts';
import { type Call, createCall } from '../../packages/client/src/calls/nouns.ts';
import { createSend, type Send } from '../../packages/client/src/calls/request.ts';
import { AgentMessagingError } from '../../packages/client/src/errors.ts';
import type { Agent } from './population.ts';

const toolAnswer = z.looseObject({
  result: z.looseObject({
    isError: z.boolean().optional(),
    content: z.array(z.looseObject({ text: z.string() })).min(1),
  }),
});

/** Timeout of a call, in milliseconds. After it, the outcome is unknown. */
export const defaultTimeoutMs = 3_000;

/** Error codes after which the caller retries. */
const transientStatuses: ReadonlySet<string> = new Set([
  'UNAVAILABLE',
  'RATE_LIMITED',
  'IDEMPOTENCY_IN_PROGRESS',
]);

/** `doubt`: the outcome is unknown until a retry with the same key. `refused`: a permanent error. */
export type Outcome =
  | { answer: unknown }
  | { doubt: string }
  | { refused: string; status?: number; code?: string };

/** Calls an operation of the service over one transport. Never throws. */
export type Caller = (
  operation: string,
  input: Record<string, unknown>,
  options?: { key?: string | undefined; timeoutMs?: number; signal?: AbortSignal },
) => Promise<Outcome>;

/** The client library without its retries: the load sees the outcome of every attempt. */
interface SingleAttempts {
  client: Client;
  /** Calls any route of REST. */
  call: Call;
  callTool: Caller;
}

export function createSingleAttempts(base: string, { tokens }: Agent): SingleAttempts {
  const settings = { timeoutMs: defaultTimeoutMs, maxRetries: 0 };
  const createSender = (token: string) =>
    createSend({ ...settings, fetch: (url, init) => fetch(url, init), getToken: () => token });
  const sendToTools = createSender(tokens.mcp);
  return {
    client: createClient({ ...settings, url: base, auth: tokens.api }),
    call: createCall(createSender(tokens.api), `${base}/v1`),
    callTool: (name, input, options = {}) =>
      callTool(sendToTools, `${base}/mcp`, { name, input, ...options }),
  };
}

/** Creates a client that retries reads until they have an answer. */
export function createReadingClient(base: string, { tokens }: Agent): { client: Client; call: Call } {
  const settings = { timeoutMs: 40_000, maxRetries: Number.POSITIVE_INFINITY };
  /** Follows the redirect to a signed address at the address that clients use. */
  const fetchFile: typeof settings & { fetch: (url: string, init: RequestInit) => Promise<Response> } = {
    ...settings,
    async fetch(url, init) {
      const response = await fetch(url, { ...init, redirect: 'manual' });
      const location = response.headers.get('location');
      if (location === null) return response;
      const { pathname, search } = new URL(location, base);
      return fetch(`${base}${pathname}${search}`, init.signal ? { signal: init.signal } : {});
    },
  };
  return {
    client: createClient({ ...fetchFile, url: base, auth: tokens.api }),
    call: createCall(createSend({ ...fetchFile, getToken: () => tokens.api }), `${base}/v1`),
  };
}

/** The outcome of a call. Without an answer of the service, nothing is known. */
export async function readOutcome(running: Promise<unknown>): Promise<Outcome> {
  try {
    return { answer: (await running) ?? null };
  } catch (error) {
    if (!(error instanceof AgentMessagingError)) return { doubt: 'connection lost' };
    const { status, code, message } = error;
    if (status === undefined) return { doubt: code === 'TIMEOUT' ? 'no answer in time' : 'connection lost' };
    return readError(status, { code, message });
  }
}

/** Interprets an error of the service. */
function readError(status: number, { code, message }: { code: string; message?: string }): Outcome {
  if (transientStatuses.has(code)) return { doubt: code };
  // MCP rejects the whole request with a JSON-RPC error, whose codes are numbers.
  if (status === 503) return { doubt: 'UNAVAILABLE' };
  return { refused: `${status} ${code}: ${message}`.slice(0, 300), status, code };
}

async function callTool(
  send: Send,
  url: string,
  call: { name: string; input: object; key?: string | undefined; timeoutMs?: number; signal?: AbortSignal },
): Promise<Outcome> {
  const { name, input, key, ...options } = call;
  const params = { name, arguments: { ...input, idempotency_key: key } };
  const headers = { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream' };
  const body = () => JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const outcome = await readOutcome(
    send({ method: 'POST', url, headers, body, isSafe: false }, options, async (response) => {
      const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
      const text = await response.text();
      return JSON.parse(isStream ? readLastData(text) : text) as unknown;
    }),
  );
  if (!('answer' in outcome)) return outcome;
  const parsed = toolAnswer.safeParse(outcome.answer);
  if (!parsed.success) return { refused: `the tool ${name} answered ${JSON.stringify(outcome.answer)}` };
  const { isError, content } = parsed.data.result;
  const value: unknown = JSON.parse(content[0]?.text ?? 'null');
  return isError ? readErrorBody(200, value) : { answer: value };
}

const errorBody = z.looseObject({ error: z.looseObject({ code: z.string(), message: z.string() }) });

/** Interprets the body of an error, over a transport that the client library does not read. */
export function readErrorBody(status: number, body: unknown): Outcome {
  const parsed = errorBody.safeParse(body);
  return readError(status, parsed.success ? parsed.data.error : { code: JSON.stringify(body) });
}

/** The last message of a stream: the answer of a tool that waits comes after its notifications. */
function readLastData(stream: string): string {
  const lines = stream.split('\n').filter((line) => line.startsWith('data:'));
  return lines.at(-1)?.slice('data:'.length) ?? '';
}
