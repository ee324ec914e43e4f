import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';

const service = useSharedService();

async function openThread() {
  const [ann, bob] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(ann, bob);
  return { ann, bob, thread_id: thread };
}

/** Sends a call over the WebSocket whose input is this JSON text. */
async function callByText({ token }: TestAgent, operation: string, input: string) {
  const socket = await connectWebSocket(service.url, { token });
  socket.send(
    `{"type":"call","id":"1","operation":"${operation}","idempotency_key":"${randomUUID()}","input":${input}}`,
  );
  const result = await socket.next(({ type }) => type === 'result' || type === 'error');
  await socket.close();
  // oxlint-disable-next-line typescript/no-explicit-any
  return result as any;
}

const outside = 'is a number outside of the range of JSON numbers';

test('a number that JSON cannot hold is refused by every transport, and the error names the field', async () => {
  const { ann, bob, thread_id } = await openThread();
  const url = `${service.api}/threads`;
  const refused = { status: 400, code: 'VALIDATION_ERROR' };
  const cases: [path: string, body: string, field: string][] = [
    [`/${thread_id}/messages`, '{"content":"a","metadata":{"a":1e400}}', 'metadata.a'],
    [`/${thread_id}/messages`, '{"content":"a","metadata":{"a":{"b":[0,-1e999]}}}', 'metadata.a.b.1'],
    [
      `/${thread_id}/messages:batch`,
      '{"messages":[{"content":"a","metadata":{"a":1e400}}]}',
      'messages.0.metadata.a',
    ],
    ['', `{"with_handle":"${bob.handle}","metadata":{"a":1e400}}`, 'metadata.a'],
  ];
  for (const [path, raw, field] of cases) {
    const { status, body } = await requestRest('POST', `${url}${path}`, { token: ann.token, raw });
    expect({ status, code: body.error.code }).toEqual(refused);
    expect(body.error.details).toEqual([{ field, message: outside }]);
  }
  const called = await callByText(
    ann,
    'send_message',
    `{"thread_id":"${thread_id}","content":"a","metadata":{"a":1e400}}`,
  );
  expect({ status: called.status, code: called.error.code }).toEqual(refused);
  expect(called.error.details).toEqual([{ field: 'metadata.a', message: outside }]);

  const mcp = await service.token(ann.handle, { audience: 'mcp' });
  const tool = await callToolRaw(service.url, mcp, 'send_message', {
    thread_id,
    content: 'a',
    metadata: '{"a":1e400}',
  });
  expect(JSON.stringify(tool)).toContain(`metadata.a: ${outside}`);
  const listed = await requestRest('GET', `${url}/${thread_id}/messages`, { token: bob.token });
  expect(listed.body.messages).toEqual([]);
});

test('large integers are rounded as the documentation says', async () => {
  const { ann, thread_id } = await openThread();
  const { body } = await service.post(ann, `/threads/${thread_id}/messages`, undefined, {
    raw: '{"content":"a","metadata":{"a":9007199254740993,"b":1.5,"c":"9007199254740993"}}',
  });
  expect(body.metadata).toEqual({ a: 9_007_199_254_740_992, b: 1.5, c: '9007199254740993' });
});

test('__proto__ is refused by REST, by a call and by a tool, at any depth, and nothing is stored', async () => {
  const { ann, bob, thread_id } = await openThread();
  for (const metadata of ['{"__proto__":{"a":1},"ok":1}', '{"a":[{"\\u005f_proto__":1}]}']) {
    const raw = `{"content":"x","metadata":${metadata}}`;
    const byRest = await service.post(ann, `/threads/${thread_id}/messages`, undefined, { raw });
    expect(outcomeOf(byRest)).toBe('400 INVALID_JSON');
    expect(byRest.body.error.message).toContain('__proto__');
    const called = await callByText(ann, 'send_message', `{"thread_id":"${thread_id}",${raw.slice(1)}`);
    expect([called.status, called.error.code]).toEqual([400, 'INVALID_JSON']);
    expect(called.error.message).toContain('__proto__: is not allowed as a name');
    const mcp = await service.token(ann.handle, { audience: 'mcp' });
    const tool = await callToolRaw(service.url, mcp, 'send_message', {
      thread_id,
      content: 'x',
      metadata,
    });
    expect(JSON.stringify(tool)).toContain('__proto__: is not allowed as a name');
  }
  const listed = await service.get(bob, `/threads/${thread_id}/messages`);
  expect(listed.body.messages).toEqual([]);
});
