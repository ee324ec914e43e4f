import { z } from 'zod';

const errorBody = z.looseObject({ error: z.looseObject({ code: z.string() }) });
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

/** `doubt`: the outcome is unknown until a retry with the same key. `refused`: a permanent error, with its code. */
export type Outcome = { answer: unknown } | { doubt: string } | { refused: string; code?: string };

/** Calls an operation of the service over one transport. Never throws. */
export type Caller = (
  operation: string,
  input: Record<string, unknown>,
  options?: { key?: string | undefined; timeoutMs?: number; signal?: AbortSignal },
) => Promise<Outcome>;

export interface CallOptions {
  base: string;
  token: string;
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  key?: string | undefined;
  /** Sent as JSON, or as a form. */
  body?: object;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** Sends one REST request. Never throws. */
export async function call(request: CallOptions): Promise<Outcome> {
  const { base, token, method, path, key, body } = request;
  return sendRequest(request, `${base}/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...(body && !(body instanceof FormData) && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
}

/** Calls one tool. Never throws. */
export async function callTool(
  request: Pick<CallOptions, 'base' | 'token' | 'key' | 'timeoutMs' | 'signal'>,
  name: string,
  input: object,
): Promise<Outcome> {
  const { base, token, key } = request;
  const params = { name, arguments: { ...input, idempotency_key: key } };
  const outcome = await sendRequest(request, `${base}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }),
  });
  if (!('answer' in outcome)) return outcome;
  const parsed = toolAnswer.safeParse(outcome.answer);
  if (!parsed.success) return { refused: `the tool ${name} answered ${JSON.stringify(outcome.answer)}` };
  const { isError, content } = parsed.data.result;
  const value: unknown = JSON.parse(content[0]?.text ?? 'null');
  return isError ? readOutcome(200, value) : { answer: value };
}

async function sendRequest(
  { timeoutMs = defaultTimeoutMs, signal }: Pick<CallOptions, 'timeoutMs' | 'signal'>,
  url: string,
  init: RequestInit,
): Promise<Outcome> {
  const timeout = new AbortController();
  const abort = () => timeout.abort();
  const timer = setTimeout(abort, timeoutMs);
  signal?.addEventListener('abort', abort, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: timeout.signal });
    const text = await response.text();
    if (response.status === 204) return { answer: null };
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    const value: unknown = JSON.parse(isStream ? readLastData(text) : text);
    return response.ok ? { answer: value } : readOutcome(response.status, value);
  } catch (error) {
    return { doubt: timeout.signal.aborted ? 'no answer in time' : describeError(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', abort);
  }
}

/** The last message of a stream: the answer of a tool that waits comes after its notifications. */
function readLastData(stream: string): string {
  const lines = stream.split('\n').filter((line) => line.startsWith('data:'));
  return lines.at(-1)?.slice('data:'.length) ?? '';
}

/** Interprets an error of the service. */
export function readOutcome(status: number, value: unknown): Outcome {
  const parsed = errorBody.safeParse(value);
  const code = parsed.success ? parsed.data.error.code : `status ${status}`;
  if (transientStatuses.has(code)) return { doubt: code };
  // MCP rejects the whole request with a JSON-RPC error, whose codes are numbers.
  if (status === 503) return { doubt: 'UNAVAILABLE' };
  return { refused: `${status} ${JSON.stringify(value).slice(0, 300)}`, code };
}

function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error instanceof SyntaxError ? 'incomplete response' : 'connection lost';
}
