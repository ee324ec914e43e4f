import { expect, test, onTestFinished } from 'vitest';
import type { DeliveredMark } from '../../../packages/core/src/domain/feed/receipts.ts';
import { recordDeliveries, type DeliveredBatch } from '../../../src/services/threads/receipts.ts';
import { readAllEvents, type FeedEvent } from '../../clients/feed.ts';
import { requestRest } from '../../clients/rest.ts';
import { type TestAgent, useSharedService, buildAgent, createTestSettings } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { openSseStream } from '../../clients/sse.ts';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';

const service = useSharedService();

const agents = (count: number) => Promise.all(Array.from({ length: count }, () => service.agent()));
const ref = ({ id, handle }: TestAgent) => ({ id, canonical_handle: handle });

async function threadOf(creator: TestAgent | undefined, ...others: (TestAgent | undefined)[]) {
  const body = { participants: others.map((agent) => agent?.handle) };
  const created = await service.post(creator, '/threads', body);
  expect(created.status).toBe(201);
  const id = String(created.body.id);
  const url = `${service.api}/threads/${id}`;
  return {
    id,
    async send(by: TestAgent | undefined, count = 1): Promise<void> {
      for (let sent = 0; sent < count; sent += 1) {
        const answer = await requestRest('POST', `${url}/messages`, {
          token: by?.token,
          body: { content: 'x' },
        });
        expect(answer.status).toBe(201);
      }
    },
    read: (by: TestAgent, up_to_sequence: number) =>
      requestRest('POST', `${url}/read`, { token: by.token, body: { up_to_sequence } }),
    add: (by: TestAgent, { handle }: TestAgent) =>
      requestRest('POST', `${url}/members`, { token: by.token, body: { handle } }),
    remove: (by: TestAgent, { id: member }: TestAgent) =>
      requestRest('DELETE', `${url}/members/${member}`, { token: by.token }),
    /** Handle, delivered and read mark of each member, as the agent sees them. */
    async marks(by: TestAgent | undefined) {
      const answer = await requestRest('GET', `${url}/receipts`, { token: by?.token });
      expect(answer.status).toBe(200);
      const receipts = answer.body.receipts as {
        agent: { id: string };
        delivered_up_to_sequence: number;
        read_up_to_sequence: number;
      }[];
      return new Map(
        receipts.map((one) => [one.agent.id, [one.delivered_up_to_sequence, one.read_up_to_sequence]]),
      );
    },
    mark: ({ id: agent_id }: TestAgent, sequence: number): DeliveredMark => ({
      thread_id: id,
      agent_id,
      sequence,
    }),
  };
}

const record = (taken: DeliveredBatch) => service.write((work) => recordDeliveries(work, { ...taken }));

/** The receipts that the agent has received: thread, member and mark, in order. */
async function readReceiptEvents(agent: TestAgent | undefined): Promise<[string, string, number][]> {
  const events = await readAllEvents(service.core, agent);
  return events
    .filter(({ type }) => type === 'message.delivered')
    .flatMap(({ data }: FeedEvent) =>
      (data.members as { id: string; up_to_sequence: number }[]).map((one): [string, string, number] => [
        data.thread_id,
        one.id,
        one.up_to_sequence,
      ]),
    );
}

test('messages count as delivered over WebSocket, SSE, long poll or by an acknowledged position', async () => {
  const [ann, web, sse, poll, ack, away] = await agents(6);
  if (!ann || !web || !sse || !poll || !ack || !away) throw new Error('no agents');
  const thread = await threadOf(ann, web, sse, poll, ack, away);
  const socket = await connectWebSocket(service.url, { token: web.token });
  const hearing = await connectWebSocket(service.url, { token: ann.token });
  const mcp = await service.token(sse.handle, { audience: 'mcp' });
  const stream = await openSseStream(`${service.url}/mcp`, {
    Authorization: `Bearer ${mcp}`,
    Accept: 'text/event-stream',
  });
  const start = await service.get(poll, '/events');
  await thread.send(ann, 3);
  const page = await service.get(poll, `/events?cursor=${start.body.cursor}`);
  expect(page.body.events).toHaveLength(3);
  // The feed starts with thread.created. A token without access to messages delivers none.
  for (const [agent, scopes, position] of [
    [ack, ['threads:read'], 3],
    [away, ['contacts:read'], 4],
  ] as const) {
    const token = await service.token(agent.handle, { scopes });
    const cursor = service.core.settings.cursors.encodeFeed(agent.id, position);
    expect((await service.post({ token }, '/events/ack', { cursor })).status).toBe(204);
  }
  await expect
    .poll(() => thread.marks(ann))
    .toEqual(
      new Map([
        [ann.id, [3, 3]],
        [web.id, [3, 0]],
        [sse.id, [3, 0]],
        [poll.id, [3, 0]],
        [ack.id, [2, 0]],
        [away.id, [0, 0]],
      ]),
    );
  const received = new Map((await readReceiptEvents(ann)).map(([, id, mark]) => [id, mark]));
  expect(received).toEqual(
    new Map([
      [web.id, 3],
      [sse.id, 3],
      [poll.id, 3],
      [ack.id, 2],
    ]),
  );
  const event = await hearing.next(({ type }) => type === 'message.delivered');
  expect(event.data).toMatchObject({ thread_id: thread.id, delivered_at: expect.any(Number) });
  for (const recipient of [web, sse, poll, ack, away]) expect(await readReceiptEvents(recipient)).toEqual([]);
  stream.close();
  await Promise.all([socket.close(), hearing.close()]);
});

test('one event reports all members of a thread to the senders only', async () => {
  const [ann, bob, cleo, dora] = await agents(4);
  if (!ann || !bob || !cleo || !dora) throw new Error('no agents');
  const thread = await threadOf(ann, bob, cleo, dora);
  await thread.send(ann, 2);
  await thread.send(bob);
  await record({ marks: [thread.mark(cleo, 2), thread.mark(dora, 2)] });
  await record({ marks: [thread.mark(cleo, 3), thread.mark(dora, 3), thread.mark(ann, 3)] });
  const events = (await readAllEvents(service.core, ann)).filter(({ type }) => type === 'message.delivered');
  expect(events.map(({ data }) => data)).toEqual([
    {
      thread_id: thread.id,
      delivered_at: expect.any(Number),
      members: expect.toSatisfy((members: unknown[]) => members.length === 2),
    },
  ]);
  expect(events[0]?.data.members).toEqual(
    expect.arrayContaining([cleo, dora].map((agent) => ({ ...ref(agent), up_to_sequence: 2 }))),
  );
  const toBob = await readReceiptEvents(bob);
  expect(new Set(toBob.map(([, id, mark]) => `${id} ${mark}`))).toEqual(
    new Set([ann, cleo, dora].map(({ id }) => `${id} 3`)),
  );
  for (const reader of [cleo, dora]) expect(await readReceiptEvents(reader)).toEqual([]);
});

test('marks never move back or beyond the end; read messages are delivered; strangers have no marks', async () => {
  const [ann, bob, cleo, stranger] = await agents(4);
  if (!ann || !bob || !cleo || !stranger) throw new Error('no agents');
  const thread = await threadOf(ann, bob);
  await thread.send(ann, 4);
  for (const sequence of [2, 1, 2]) await record({ marks: [thread.mark(bob, sequence)] });
  expect((await thread.marks(bob)).get(bob.id)).toEqual([2, 0]);
  await record({ marks: [thread.mark(bob, 99), thread.mark(stranger, 3)] });
  expect((await thread.marks(ann)).get(bob.id)).toEqual([4, 0]);
  await thread.send(ann, 2);
  expect((await thread.read(bob, 5)).status).toBe(204);
  expect((await thread.marks(ann)).get(bob.id)).toEqual([5, 5]);
  await record({ marks: [thread.mark(bob, 5)] });
  expect(await readReceiptEvents(ann)).toEqual([2, 4].map((mark) => [thread.id, bob.id, mark]));

  expect((await thread.add(ann, cleo)).status).toBe(201);
  expect((await thread.marks(cleo)).get(cleo.id)).toEqual([6, 6]);
  await thread.send(ann);
  expect((await thread.remove(ann, cleo)).status).toBe(204);
  await record({ marks: [thread.mark(cleo, 7)] });
  expect([...(await thread.marks(ann)).keys()].toSorted()).toEqual([ann.id, bob.id].toSorted());
  expect(await readReceiptEvents(ann)).toHaveLength(2);
  const hidden = await service.get(cleo, `/threads/${thread.id}/receipts`);
  expect(hidden.body.error.code).toBe('THREAD_NOT_FOUND');
});

test('concurrent deliveries, messages and read marks do not deadlock, and senders receive marks in order', async () => {
  const members = await agents(6);
  const threads = await Promise.all(
    [0, 1, 2].map((turn) => threadOf(...(members.slice(turn, turn + 4) as [TestAgent, TestAgent]))),
  );
  await Promise.all(threads.map((thread, turn) => thread.send(members[turn], 10)));
  const rounds = Array.from({ length: 60 }, async (_, round) => {
    const marks = threads.flatMap((thread, turn) =>
      members.slice(turn, turn + 4).map((agent) => thread.mark(agent, 1 + ((round * 7) % 12))),
    );
    await record({ marks: round % 2 ? marks : marks.toReversed() });
    if (round % 5 === 0) await threads[round % 3]?.send(members[(round % 3) + 1]);
  });
  await Promise.all(rounds);
  for (const agent of members) {
    const latest = new Map<string, number>();
    for (const [thread_id, id, mark] of await readReceiptEvents(agent)) {
      expect(mark).toBeGreaterThan(latest.get(`${thread_id} ${id}`) ?? 0);
      latest.set(`${thread_id} ${id}`, mark);
    }
  }
  // A mark beyond the end is set to the end.
  for (const [turn, thread] of threads.entries()) {
    for (const [delivered = 0] of (await thread.marks(members[turn])).values())
      expect(delivered).toBeGreaterThanOrEqual(10);
  }
});

test('a member that is removed while a delivery is written gets no event', async () => {
  const [ann, bob] = await agents(2);
  if (!ann || !bob) throw new Error('no agents');
  const thread = await threadOf(ann, bob);
  await thread.send(ann);
  const order: string[] = [];
  let removing: Promise<unknown> | undefined;
  await service.write(async (work) => {
    await recordDeliveries(work, { marks: [thread.mark(bob, 1)] });
    removing = thread.remove(bob, ann).then(() => order.push('removed'));
    const waiting = {
      text: `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
    };
    await expect.poll(async () => (await service.core.database.query(waiting, [])).length).toBe(1);
    order.push('recorded');
  });
  await removing;
  expect(order).toEqual(['recorded', 'removed']);
  const types = (await readAllEvents(service.core, ann)).map(({ type }) => type);
  expect(types.slice(-2)).toEqual(['message.delivered', 'thread.member_removed']);
});

test('a stopping process writes the deliveries that it has collected', async () => {
  const settings = await createTestSettings('postgres');
  const config = loadConfig(settings.env);
  const [stopping, looking] = [compose(config, 'stopping'), compose(config, 'looking')];
  onTestFinished(async () => {
    await looking.close();
    await settings.release();
  });
  const lifecycle = createLifecycle(stopping.logger);
  const { port } = await startApi(stopping, lifecycle);
  const api = `http://127.0.0.1:${port}`;
  const [ann, bob] = await Promise.all([buildAgent(looking), buildAgent(looking)]);
  const body = { participants: [bob.handle], initial_message: 'goodbye' };
  const socket = await connectWebSocket(api, { token: bob.token });
  const created = await requestRest('POST', `${api}/v1/threads`, { token: ann.token, body });
  expect(created.status).toBe(201);
  await socket.next(({ type }) => type === 'message.created');
  expect(await lifecycle.stop('the test is over')).toBe(true);
  await socket.closed;
  const delivered = (await readAllEvents(looking, ann)).find(({ type }) => type === 'message.delivered');
  expect(delivered?.data.members).toEqual([{ id: bob.id, canonical_handle: bob.handle, up_to_sequence: 1 }]);
});
