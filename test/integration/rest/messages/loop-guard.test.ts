import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi } from '../../../../src/api.ts';
import { compose } from '../../../../src/compose.ts';
import { createLifecycle } from '../../../../src/start/lifecycle.ts';
import { maintenanceHandler } from '../../../../workers/maintenance/tasks.ts';
import { callToolRaw } from '../../../clients/mcp/client.ts';
import { requestRest, type RestResponse } from '../../../clients/rest.ts';
import { startService, type TestAgent, type TestService } from '../../../support/service.ts';
import { updateAgentColumn } from '../../../clients/contacts.ts';
import { openSseStream } from '../../../clients/sse.ts';
import { stopAfterTest } from '../../../support/use.ts';

/** The two API processes on one database; the second one has its own instance id. */
let service: TestService;
let second: string;
const limits = 'loop=4/600,send_message=1000/60,create_thread=1000/60,default=1000/60';

beforeAll(async () => {
  service = await startService({ worker: false, env: { RATE_LIMITS: limits } });
  const lifecycle = createLifecycle(service.core.logger);
  const { port } = await startApi(compose(service.core.config, 'second'), lifecycle);
  second = `http://127.0.0.1:${port}/v1`;
  const { stop } = service;
  service.stop = async () => {
    await lifecycle.stop('the test is over');
    return stop();
  };
});
afterAll(() => service.stop());

const agents = (count: number, of = service) => Promise.all(Array.from({ length: count }, () => of.agent()));

async function threadOf([first, ...others]: TestAgent[], api = service.api): Promise<string> {
  const body = { participants: others.map(({ handle }) => handle) };
  const created = await requestRest('POST', `${api}/threads`, { token: first?.token, body });
  expect(created.status).toBe(201);
  return created.body.id;
}

const send = (
  thread: string,
  by: TestAgent | undefined,
  request: { api?: string; key?: string; body?: object } = {},
) =>
  requestRest('POST', `${request.api ?? service.api}/threads/${thread}/messages`, {
    token: by?.token,
    body: request.body ?? { content: 'over to you' },
    ...(request.key !== undefined && { key: request.key }),
  });

function expectLoop({ status, headers, body }: RestResponse): void {
  expect([status, body.error.code]).toEqual([429, 'RATE_LIMITED']);
  expect(body.error.details).toEqual([{ field: 'thread_id', message: expect.any(String), reason: 'loop' }]);
  const retryAfter = Number(headers.get('retry-after'));
  expect(retryAfter).toBeGreaterThan(500);
  expect(retryAfter).toBeLessThanOrEqual(600);
  expect(body.error.message).toContain(`try again in ${retryAfter} s`);
}

/** Sends the first message and then `count` replies. */
async function pingPong(thread: string, by: readonly TestAgent[], exchanges: number): Promise<void> {
  for (let number = 0; number <= exchanges; number += 1) {
    const answer = await send(thread, by[number % by.length], number % 2 ? { api: second } : {});
    expect(answer.status).toBe(201);
  }
}

const rewind = (thread: string, ms: number) =>
  service.sql('update threads set last_message_at = last_message_at - $2::bigint where id = $1', [
    thread,
    ms,
  ]);

test('two agents that reply to each other too fast for too long are refused by every transport and process', async () => {
  const [ann, bob] = (await agents(2)) as [TestAgent, TestAgent];
  const thread = await threadOf([ann, bob]);
  await pingPong(thread, [ann, bob], 4);
  for (const api of [service.api, second]) expectLoop(await send(thread, bob, { api }));
  const mcp = await service.token(bob.handle, { audience: 'mcp' });
  const tool = await callToolRaw(service.url, mcp, 'send_message', {
    thread_id: thread,
    content: 'me again',
  });
  expect(tool).toMatchObject({
    isError: true,
    value: {
      error: { code: 'RATE_LIMITED', retry_after: expect.any(Number), details: [{ reason: 'loop' }] },
    },
  });
  const list = await service.get(ann, `/threads/${thread}/messages`);
  expect(list.body.messages).toHaveLength(5);
  // The last sender can continue, and both can write in other threads.
  expect((await send(thread, ann)).status).toBe(201);
  const elsewhere = await threadOf([ann, bob]);
  await pingPong(elsewhere, [bob, ann], 4);
});

test('a reply after ten seconds or to the own message does not count as an exchange', async () => {
  const [ann, bob] = (await agents(2)) as [TestAgent, TestAgent];
  const thread = await threadOf([ann, bob]);
  for (let number = 0; number < 8; number += 1) expect((await send(thread, ann)).status).toBe(201);
  await pingPong(thread, [ann, bob], 4);
  expectLoop(await send(thread, bob));
  await rewind(thread, 10_001);
  expect((await send(thread, bob)).status).toBe(201);
  expectLoop(await send(thread, ann));
});

test('a period ends, and the next one begins', async () => {
  const [ann, bob] = (await agents(2)) as [TestAgent, TestAgent];
  const thread = await threadOf([ann, bob]);
  await pingPong(thread, [ann, bob], 4);
  expectLoop(await send(thread, bob));
  const text = 'update thread_exchanges set since = since - 600000 where thread_id = $1';
  await service.sql(text, [thread]);
  await pingPong(thread, [bob, ann], 3);
  expectLoop(await send(thread, bob));
});

test('in a group each pair counts for itself', async () => {
  const [ann, bob, cid] = (await agents(3)) as [TestAgent, TestAgent, TestAgent];
  const thread = await threadOf([ann, bob, cid]);
  await pingPong(thread, [ann, bob], 4);
  expectLoop(await send(thread, bob));
  // Other pairs still have budget.
  await pingPong(thread, [cid, bob, cid, ann], 3);
});

test('a repeated key and a refused message cost nothing', async () => {
  const [ann, bob] = (await agents(2)) as [TestAgent, TestAgent];
  const thread = await threadOf([ann, bob]);
  await pingPong(thread, [ann, bob], 2);
  const key = randomUUID();
  expect((await send(thread, bob, { key })).status).toBe(201);
  for (let number = 0; number < 5; number += 1) {
    const again = await send(thread, bob, { key });
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true']);
    expect((await send(thread, ann, { body: { content: '' } })).status).toBe(400);
    const none = `msg_${'0'.repeat(26)}`;
    expect((await send(thread, ann, { body: { content: 'x', reply_to: none } })).status).toBe(404);
  }
  await updateAgentColumn(service, bob, 'inbound_policy', 'contacts_only');
  await updateAgentColumn(service, bob, 'paused', true);
  for (let number = 0; number < 5; number += 1) expect((await send(thread, ann)).status).toBe(503);
  await updateAgentColumn(service, bob, 'paused', false);
  await updateAgentColumn(service, bob, 'inbound_policy', 'open');
  expect((await send(thread, ann)).status).toBe(201);
  // A loop refusal costs nothing either, and the same key works later.
  const later = randomUUID();
  for (let number = 0; number < 5; number += 1) expectLoop(await send(thread, bob, { key: later }));
  await rewind(thread, 10_001);
  const sent = await send(thread, bob, { key: later });
  expect([sent.status, sent.headers.get('idempotency-replayed')]).toEqual([201, null]);
});

test('nothing is counted when the guard is off; expired rows are removed', async () => {
  const off = stopAfterTest(await startService({ worker: false, env: { RATE_LIMITS: 'off' } }));
  const [ann, bob] = (await agents(2, off)) as [TestAgent, TestAgent];
  const thread = await threadOf([ann, bob], off.api);
  for (let number = 0; number < 10; number += 1) {
    expect((await send(thread, number % 2 ? ann : bob, { api: off.api })).status).toBe(201);
  }
  const rows = ({ core }: TestService) =>
    core.database.query<{ thread_id: string }>({ text: 'select thread_id from thread_exchanges' }, []);
  expect(await rows(off)).toEqual([]);

  const pair = (await agents(2)) as [TestAgent, TestAgent];
  const [over, runs] = [await threadOf(pair), await threadOf(pair)];
  for (const each of [over, runs]) await pingPong(each, pair, 1);
  const text = 'update thread_exchanges set since = since - 600001 where thread_id = $1';
  await service.sql(text, [over]);
  await maintenanceHandler(service.core).handle({ task: 'expire-exchanges' });
  const left = (await rows(service)).map(({ thread_id }) => thread_id);
  expect(left).toContain(runs);
  expect(left).not.toContain(over);
});

test('a sender can mark that no reply is expected, and tools show it', async () => {
  const [ann, bob] = (await agents(2)) as [TestAgent, TestAgent];
  const thread = await threadOf([ann, bob]);
  const say = (content: string, metadata: object) => send(thread, ann, { body: { content, metadata } });
  const mcp = await service.token(bob.handle, { audience: 'mcp' });
  const stream = stopAfterTest(
    await openSseStream(`${service.url}/mcp`, {
      Authorization: `Bearer ${mcp}`,
      Accept: 'text/event-stream',
    }),
  );
  const last = await say('thanks, goodbye', { no_reply_expected: true });
  expect(last.body.metadata).toEqual({ no_reply_expected: true });
  expect(last.body).not.toHaveProperty('reply_expected');
  for (const value of [false, 'true', 1, null]) await say('goodbye?', { no_reply_expected: value });
  const read = await callToolRaw(service.url, mcp, 'get_thread', { thread_id: thread });
  const marks = (read.value['messages'] as { reply_expected?: boolean }[]).map((each) => each.reply_expected);
  expect(marks).toEqual([false, undefined, undefined, undefined, undefined]);
  const announced = (await stream.events(5)).map(
    ({ data }) => JSON.parse(data).params['_meta'].reply_expected,
  );
  expect(announced).toEqual(marks);
});
