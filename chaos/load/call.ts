import { z } from 'zod';

const errorBody = z.looseObject({ error: z.looseObject({ code: z.string() }) });
const toolAnswer = z.looseObject({
  result: z.looseObject({
    isError: z.boolean().optional(),
    content: z.array(z.looseObject({ text: z.string() })).min(1),
  }),
});

/** How long a call may take before the caller gives it up and cannot know what became of it, in milliseconds. */
const defaultTimeoutMs = 3_000;

/** The service said that it cannot do this now; to try again is right. */
const transientStatuses: ReadonlySet<string> = new Set([
  'UNAVAILABLE',
  'RATE_LIMITED',
  'IDEMPOTENCY_IN_PROGRESS',
]);

/** `doubt`: it may have happened or not; only another try with the same key tells. `refused`: it says no for good. */
export type Outcome = { answer: unknown } | { doubt: string } | { refused: string };

export interface CallOptions {
  base: string;
  token: string;
  method: 'GET' | 'POST';
  path: string;
  key?: string | undefined;
  body?: object;
  timeoutMs?: number;
  signal?: AbortSignal;
}

/** One request of REST. Never throws. */
export async function call(request: CallOptions): Promise<Outcome> {
  const { base, token, method, path, key, body } = request;
  return sendRequest(request, `${base}/v1${path}`, {
    method,
    headers: {
      Authorization: `Bearer ${token}`,
      ...(key !== undefined && { 'Idempotency-Key': key }),
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
}

/** One call of a tool. Never throws. */
export async function callTool(
  { base, token, key }: Pick<CallOptions, 'base' | 'token' | 'key'>,
  name: string,
  input: object,
): Promise<Outcome> {
  const params = { name, arguments: { ...input, idempotency_key: key } };
  const outcome = await sendRequest({}, `${base}/mcp`, {
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
  const late = new AbortController();
  const giveUp = () => late.abort();
  const timer = setTimeout(giveUp, timeoutMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  try {
    const response = await fetch(url, { ...init, signal: late.signal });
    const text = await response.text();
    if (response.status === 204) return { answer: null };
    const value: unknown = JSON.parse(text);
    return response.ok ? { answer: value } : readOutcome(response.status, value);
  } catch (error) {
    return { doubt: late.signal.aborted ? 'no answer in time' : describeError(error) };
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}

function readOutcome(status: number, value: unknown): Outcome {
  const parsed = errorBody.safeParse(value);
  const code = parsed.success ? parsed.data.error.code : `status ${status}`;
  if (transientStatuses.has(code)) return { doubt: code };
  // MCP refuses a request as a whole with an error of JSON-RPC, whose codes are numbers.
  if (status === 503) return { doubt: 'UNAVAILABLE' };
  return { refused: `${status} ${JSON.stringify(value).slice(0, 300)}` };
}

function describeError(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (cause instanceof Error && 'code' in cause) return String(cause.code);
  return error instanceof SyntaxError ? 'half an answer' : 'connection lost';
}
