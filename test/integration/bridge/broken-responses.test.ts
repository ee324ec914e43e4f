import { expect, test } from 'vitest';
import { type Answer, json, result, startBridge, streamed } from './bridge-in-process.ts';

const question = { jsonrpc: '2.0', id: 'q', method: 'elicitation/create', params: { message: 'May it?' } };
const unknown = { error: { code: -32_000, message: expect.stringContaining('may have taken effect') } };

test.each<[string, Answer]>([
  ['is cut', (response) => streamed(response, question).write(': x\n\n', () => response.destroy())],
  ['ends early', (response) => void streamed(response, question).end()],
  [
    'ends within a line',
    (response) => void streamed(response, question).end('data: {"jsonrpc":"2.0","id":1,'),
  ],
])(
  'a stream that %s: the call fails with an error that says what is unknown, and the request is cancelled',
  async (_, answer) => {
    const { next, call, calls } = await startBridge(answer);
    call(1, 'change');
    expect(await next()).toEqual(question);
    expect(await next()).toMatchObject({ id: 1, ...unknown });
    expect(await next()).toMatchObject({ method: 'notifications/cancelled', params: { requestId: 'q' } });
    expect(calls).toHaveLength(1);
  },
);

test('a call that only reads or has a key is repeated; any other is not', async () => {
  const { next, call, calls } = await startBridge((response, rpcCall, count) => {
    if (count === 1) response.destroy();
    else if (count === 2) json(response, {}, 503);
    else if (count === 3) streamed(response).end();
    else result(response, rpcCall, { content: [] });
  });
  call(1, 'look');
  expect(await next()).toMatchObject({ id: 1, result: {} });
  expect(calls).toHaveLength(4);
  calls.length = 0;
  call(2, 'change', { idempotency_key: 'k' });
  expect(await next()).toMatchObject({ id: 2, result: {} });
  expect(calls).toHaveLength(4);
  calls.length = 0;
  call(3, 'change');
  expect(await next()).toMatchObject({ id: 3, ...unknown });
  expect(calls).toHaveLength(1);
});

test.each<[string, Answer, string]>([
  ['no JSON', (response) => void response.setHeader('Content-Type', 'application/json').end('{'), 'not MCP'],
  ['a page', (response) => void response.setHeader('Content-Type', 'text/html').end('<p>'), 'content type'],
  ['nothing', (response) => void response.writeHead(202).end(), 'returned 202'],
  [
    'another place',
    (response) => void response.writeHead(302, { Location: 'http://x.test/' }).end(),
    'edirect',
  ],
  ['a refusal in JSON-RPC', (response) => json(response, { error: { code: -5, message: 'no' } }, 400), 'no'],
  [
    'an error as over REST',
    (response) => json(response, { error: { code: 'X', message: 'not you' } }, 403),
    'not you',
  ],
])('a service that answers with %s is told as an error', async (_, answer, words) => {
  const { next, call } = await startBridge(answer, { timeout_seconds: 0 });
  call(1, 'change');
  expect(await next()).toMatchObject({ id: 1, error: { message: expect.stringContaining(words) } });
});
