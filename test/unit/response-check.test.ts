import { expect, test } from 'vitest';
import { z } from 'zod';
import { catalogue } from '../../src/operations/catalogue.ts';
import { exampleAgent, exampleThread } from '../../packages/core/src/records/examples.ts';
import { openApiDocument } from '../../src/transports/rest/openapi/document.ts';
import type { Route } from '../../src/transports/rest/route.ts';
import {
  createResponseCheck,
  type HttpExchange,
  isDocumentedPath,
} from '../support/openapi/response-check.ts';
import { mergeDocuments, type OpenApiDocument } from '../support/openapi/document.ts';
import { runAtOnce } from '../../src/shared/steps.ts';

const poem: Route = {
  method: 'GET',
  path: '/agents/{owner}/{agent_name}/poem',
  stages: [],
  description: {
    name: 'read_poem',
    summary: 'Read a poem',
    scopes: [],
    anonymous: true,
    input: z.strictObject({}),
    status: 200,
    content: [{ type: 'text/plain', schema: z.string(), example: 'Roses' }],
    errors: ['NOT_ACCEPTABLE'],
    example: {},
  },
};

const parts = {
  catalogue,
  routes: [poem],
  base_url: 'http://localhost/v1',
  public_url: 'http://localhost',
  version: '0',
};
const [short, long] = (['short', 'long'] as const).map(
  (form) => runAtOnce(openApiDocument({ ...parts, form })) as unknown as OpenApiDocument,
) as [OpenApiDocument, OpenApiDocument];

const { check } = createResponseCheck(mergeDocuments(short, long));

interface Answer {
  status?: number;
  body?: unknown;
  headers?: Record<string, string | null>;
}

function exchange(method: string, path: string, { status = 200, body, headers = {} }: Answer): HttpExchange {
  const defaultHeaders = {
    'content-type': 'application/json; charset=utf-8',
    'x-request-id': 'a-request-id',
  };
  const all = new Map<string, string | null>(Object.entries({ ...defaultHeaders, ...headers }));
  const text = typeof body === 'string' ? body : body === undefined ? '' : JSON.stringify(body);
  return {
    method,
    path: `/v1${path}`,
    status,
    text,
    headers: { get: (name) => all.get(name.toLowerCase()) ?? null },
  };
}

const refusal = (code: string) => ({ error: { code, message: 'No.', request_id: 'a-request-id' } });
const made = { ...exampleThread, initial_message_id: 'msg_1' };
const Location = { location: 'http://localhost/v1/threads/thd_1' };

test.each<[string, string, string, Answer]>([
  ['get_me', 'GET', '/agents/me', { body: exampleAgent }],
  ['get_me', 'GET', '/agents/me?x=y', { body: exampleAgent, headers: { ratelimit: '"default";r=1;t=2' } }],
  ['get_me', 'HEAD', '/agents/me', {}],
  ['get_thread', 'GET', '/threads/thd_1', { status: 404, body: refusal('THREAD_NOT_FOUND') }],
  ['create_thread', 'POST', '/threads', { status: 201, body: made, headers: Location }],
  ['create_thread_as', 'POST', '/agents/a/b/threads', { status: 403, body: refusal('FORBIDDEN') }],
  ['mark_read', 'POST', '/threads/thd_1/read', { status: 204 }],
  ['read_poem', 'GET', '/agents/a/b/poem', { body: 'Roses', headers: { 'content-type': 'text/plain' } }],
])('%s: a right answer to %s %s is taken', (name, method, path, answer) => {
  expect(check(exchange(method, path, answer))).toBe(name);
});

test.each<[string, string, Answer]>([
  ['GET', '/nothing', { status: 404, body: refusal('NOT_FOUND') }],
  ['DELETE', '/threads', { status: 405, body: refusal('METHOD_NOT_ALLOWED') }],
  ['OPTIONS', '/threads', { status: 200 }],
])('%s %s is not described, and refused in the form of the contract', (method, path, answer) => {
  expect(check(exchange(method, path, answer))).toBeNull();
});

const { display_name: _name, ...nameless } = exampleAgent;

test.each<[string, string, string, Answer, RegExp]>([
  ['a field too many', 'GET', '/agents/me', { body: { ...exampleAgent, secret: 1 } }, /secret/],
  ['a field too few', 'GET', '/agents/me', { body: nameless }, /display_name/],
  ['a field of another type', 'GET', '/agents/me', { body: { ...exampleAgent, paused: 'no' } }, /paused/],
  [
    'a field too many, deep inside',
    'GET',
    '/threads',
    { body: { threads: [{ ...exampleThread, members: [{ ...exampleThread.members[0], token: 'x' }] }] } },
    /token/,
  ],
  ['no JSON', 'GET', '/agents/me', { body: '{' }, /body/],
  ['an undescribed status', 'GET', '/agents/me', { status: 202, body: exampleAgent }, /no such status/],
  [
    'an undescribed type',
    'GET',
    '/agents/me',
    { body: exampleAgent, headers: { 'content-type': 'text/html' } },
    /type/,
  ],
  ['a body where none belongs', 'POST', '/threads/thd_1/read', { status: 204, body: {} }, /body/],
  ['a body for HEAD', 'HEAD', '/agents/me', { body: exampleAgent }, /body/],
  [
    'no request id',
    'GET',
    '/agents/me',
    { body: exampleAgent, headers: { 'x-request-id': null } },
    /X-Request-Id/,
  ],
  ['no challenge', 'GET', '/agents/me', { status: 401, body: refusal('UNAUTHORIZED') }, /WWW-Authenticate/],
  ['no Location', 'POST', '/threads', { status: 201, body: made }, /Location/],
  ['no Retry-After', 'GET', '/threads', { status: 429, body: refusal('RATE_LIMITED') }, /Retry-After/],
  [
    'a Retry-After that is no number',
    'GET',
    '/threads',
    { status: 429, body: refusal('RATE_LIMITED'), headers: { 'retry-after': 'soon' } },
    /Retry-After/,
  ],
  ['a code of another status', 'GET', '/threads/x', { status: 404, body: refusal('FORBIDDEN') }, /code/],
  [
    'a code of another operation',
    'GET',
    '/threads/x',
    { status: 404, body: refusal('AGENT_NOT_FOUND') },
    /code/,
  ],
  ['a refusal of another form', 'GET', '/threads/x', { status: 404, body: { message: 'no' } }, /error/],
  [
    'a refusal that tells more',
    'GET',
    '/threads/x',
    { status: 404, body: { error: { ...refusal('THREAD_NOT_FOUND').error, stack: 'at …' } } },
    /stack/,
  ],
  ['an undescribed path that answers', 'GET', '/nothing', { body: {} }, /404/],
  ['an undescribed method that answers', 'PUT', '/threads', { body: {} }, /405/],
])('%s is found', (_, method, path, answer, why) => {
  expect(() => check(exchange(method, path, answer))).toThrow(why);
});

test('the check skips only responses that have a description of their own', () => {
  const paths = [
    '/v1/threads',
    '/v1/openapi.json',
    '/v1/openapi-long-paths.json',
    '/v1/.well-known/x',
    '/mcp',
    '/v1/openapi.json/x',
    '/v10/x',
  ];
  expect(paths.filter(isDocumentedPath)).toEqual(['/v1/threads', '/v1/openapi.json/x']);
});
