import { randomUUID } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { z } from 'zod';

export const message = z.looseObject({
  id: z.string(),
  thread_id: z.string(),
  sequence: z.int(),
  content: z.string(),
});
export const thread = z.looseObject({ id: z.string(), last_sequence: z.int() });
export const messagePage = z.looseObject({ messages: z.array(message) });
export const eventPage = z.looseObject({
  cursor: z.string(),
  events: z.array(z.looseObject({ type: z.string(), data: z.looseObject({ id: z.string() }) })),
});
const refusal = z.looseObject({ error: z.looseObject({ code: z.string(), message: z.string() }) });

export interface RestResponse<T> {
  value: T;
  text: string;
  headers: Headers;
  /** Start of the request and how long it took, in ms. */
  started: number;
  ms: number;
}

export interface RestClient {
  get<T>(path: string, schema: z.ZodType<T>): Promise<RestResponse<T>>;
  post<T>(path: string, body: object, schema: z.ZodType<T>, key?: string): Promise<RestResponse<T>>;
}

/** A REST client for one token. Throws an error with code and message for any response that is not successful. */
export function createRestClient(base: string, token: string): RestClient {
  async function call<T>(
    method: string,
    path: string,
    schema: z.ZodType<T>,
    extra: { headers?: Record<string, string>; body?: string } = {},
  ): Promise<RestResponse<T>> {
    const started = performance.now();
    const headers = { Authorization: `Bearer ${token}`, ...extra.headers };
    const response = await fetch(`${base}/v1${path}`, { ...extra, method, headers });
    const text = await response.text();
    const ms = performance.now() - started;
    if (!response.ok)
      throw new Error(`${method} ${path} answered ${response.status} ${readErrorMessage(text)}`);
    return { value: schema.parse(JSON.parse(text)), text, headers: response.headers, started, ms };
  }

  return {
    get: (path, schema) => call('GET', path, schema),
    post: (path, body, schema, key = randomUUID()) =>
      call('POST', path, schema, {
        headers: { 'Content-Type': 'application/json', 'Idempotency-Key': key },
        body: JSON.stringify(body),
      }),
  };
}

function readErrorMessage(text: string): string {
  try {
    const { error } = refusal.parse(JSON.parse(text));
    return `${error.code}: ${error.message}`;
  } catch {
    return text.slice(0, 200); // not a response of this service
  }
}
