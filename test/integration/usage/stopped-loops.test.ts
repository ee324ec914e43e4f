import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { allTestScopes, type TestAgent, useService } from '../../support/service.ts';
import { sendTo, startThread } from '../console/conversations/conversation-fixtures.ts';

const service = useService({
  worker: false,
  env: { RATE_LIMITS: 'loop=2/600,send_message=1000/60,create_thread=1000/60,default=1000/60' },
});

const readLoops = async ({ token }: TestAgent) => {
  const { body } = await service.get({ token }, '/usage');
  return [
    body.total.stopped_loops,
    body.counterparts.map((each: { stopped_loops: number }) => each.stopped_loops),
  ];
};

/** Two agents whose next exchange the loop guard refuses; the second one sent the last message but one. */
async function loopingPair(): Promise<{ thread: string; first: TestAgent; second: TestAgent }> {
  const agent = () => service.agent({ scopes: [...allTestScopes, 'conversations:read'] });
  const [first, second] = [await agent(), await agent()];
  const thread = await startThread(service, first, [second]);
  await sendTo(service, second, thread, 'ping');
  await sendTo(service, first, thread, 'pong');
  return { thread, first, second };
}

test('every refusal of the loop guard is counted, over REST and MCP, alone and in a batch', async () => {
  const { thread, first, second } = await loopingPair();
  const post = (path: string, body: object) =>
    service.post(second, `/threads/${thread}/${path}`, body, {
      headers: { 'Idempotency-Key': randomUUID() },
    });
  expect((await post('messages', { content: 'one' })).status).toBe(429);
  expect(await readLoops(second)).toEqual([1, [1]]);
  const both = await Promise.all([1, 2].map(() => post('messages', { content: 'together' })));
  expect(both.map(({ status }) => status)).toEqual([429, 429]);
  expect(await readLoops(second)).toEqual([3, [3]]);
  expect((await post('ask', { content: 'a transaction of its own', wait_seconds: 0 })).status).toBe(429);
  expect(await readLoops(second)).toEqual([4, [4]]);
  // The whole batch is refused as one.
  expect((await post('messages:batch', { messages: [{ content: 'a' }, { content: 'b' }] })).status).toBe(429);
  expect(await readLoops(second)).toEqual([5, [5]]);
  const mcp = await service.token(second.handle, { audience: 'mcp' });
  await callToolRaw(service.url, mcp, 'send_message', { thread_id: thread, content: 'a tool' });
  expect(await readLoops(second)).toEqual([6, [6]]);
  expect(await readLoops(first)).toEqual([0, []]);
});

test('a refusal in a batch of which other messages are sent is counted with them', async () => {
  const { thread, second } = await loopingPair();
  const body = { messages: [{ content: 'a loop' }, { content: 'x', reply_to: `msg_${'0'.repeat(26)}` }] };
  const { status } = await service.post(second, `/threads/${thread}/messages:batch`, body, {
    headers: { 'Idempotency-Key': randomUUID() },
  });
  expect(status).toBe(200);
  expect(await readLoops(second)).toEqual([1, [1]]);
});
