import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { checkResponse } from '../support/openapi/served-document.ts';

export interface RestResponse {
  status: number;
  headers: Headers;
  text: string;
  // The tests say what they expect of it.
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

export interface RestRequest {
  token?: string | undefined;
  /** `undefined` sends a fresh one with POST, `null` none. */
  key?: string | null;
  headers?: Record<string, string>;
  /** Sent as it is. */
  raw?: string | Uint8Array<ArrayBuffer>;
  body?: unknown;
  /** Whether the service is of another release, which the documents of this one do not describe. */
  otherRelease?: boolean;
}

/**
 * One request over real HTTP. POST carries a fresh Idempotency-Key unless told otherwise.
 * @throws {Error} when the answer is not as the service's own OpenAPI document describes it.
 */
export async function requestRest(
  method: string,
  url: string,
  request: RestRequest = {},
): Promise<RestResponse> {
  const { token, key = method === 'POST' ? randomUUID() : null, raw, body } = request;
  const payload = raw ?? (body === undefined ? undefined : JSON.stringify(body));
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(key !== null && { 'Idempotency-Key': key }),
      ...(payload !== undefined && { 'Content-Type': 'application/json' }),
      ...request.headers,
    },
    ...(payload !== undefined && { body: payload }),
  });
  const text = await response.text();
  if (!request.otherRelease) await checkResponse(method, url, response, text);
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: isJson && text !== '' ? JSON.parse(text) : undefined,
  };
}

/** The status of a response, with the code of its error: `200`, `404 NOT_FOUND`. */
export const outcomeOf = ({ status, body }: Pick<RestResponse, 'status' | 'body'>): string =>
  body?.error ? `${status} ${body.error.code}` : String(status);

/**
 * The records of a list, page by page.
 * @param read one page; the query begins with `?`
 * @param onPage runs after each page, before the next one
 */
export async function readPages(
  read: (query: string) => Promise<RestResponse>,
  { list, limit, filter = '' }: { list: string; limit: number; filter?: string },
  onPage: (records: readonly unknown[]) => unknown = () => undefined,
  // oxlint-disable-next-line typescript/no-explicit-any
): Promise<any[]> {
  const records: unknown[] = [];
  for (let cursor = ''; ;) {
    const { body, headers } = await read(`?limit=${limit}${filter}${cursor}`);
    expect(body[list].length).toBeLessThanOrEqual(limit);
    records.push(...body[list]);
    await onPage(records);
    const next: string | undefined = body.next_cursor;
    if (next === undefined) return records;
    expect(headers.get('link')).toContain('rel="next"');
    cursor = `&cursor=${encodeURIComponent(next)}`;
  }
}

/** The sender of a request: an agent, or anything else with a token. `null` sends no token. */
export type RestCaller = Pick<RestRequest, 'token'> | null | undefined;

/** Requests to the REST interface at this address; a path begins below `/v1`. */
export function createRestMethods(api: string) {
  const withBody =
    (method: string) =>
    (by: RestCaller, path: string, body?: unknown, request: RestRequest = {}): Promise<RestResponse> =>
      requestRest(method, `${api}${path}`, { token: by?.token, body, ...request });
  const withoutBody = (method: string) => {
    const send = withBody(method);
    return (by: RestCaller, path: string, request?: RestRequest) => send(by, path, undefined, request);
  };
  return {
    get: withoutBody('GET'),
    post: withBody('POST'),
    put: withBody('PUT'),
    patch: withBody('PATCH'),
    delete: withoutBody('DELETE'),
  };
}
