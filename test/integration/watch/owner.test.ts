import { describe, expect, test } from 'vitest';
import { createClient } from '../../../packages/client/src/node/main.ts';
import { connectWebSocket, refused } from '../../clients/websocket.ts';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { sendTo, startThread } from '../console/conversations/conversation-fixtures.ts';
import { signInPerson } from '../console/signed-in-person.ts';

const service = useSharedService();
const scopes = ['conversations:read'] as const;

async function createWorld() {
  const ada = await signInPerson(service);
  const [one, two, other] = [await ada.agent('one'), await ada.agent('two'), await service.agent()];
  const token = await service.token(one.handle, { scopes: [...scopes] });
  const ws = await service.token(one.handle, { scopes: [...scopes], audience: 'ws' });
  return { ada, one, two, other, token, ws };
}

const poll = async (token: string, query = '') => service.get({ token }, `/events?watch=owner${query}`);
const textsOf = (events: { data: { content?: string }; agent_id?: string }[]) =>
  events.flatMap(({ data, agent_id }) => (data.content === undefined ? [] : [[agent_id, data.content]]));

/** All pages after a cursor. */
async function readAll(token: string, start: string) {
  const events: { type: string; agent_id: string; cursor: string; data: { content?: string } }[] = [];
  for (let cursor = start; ;) {
    const { status, body } = await poll(token, `&limit=3&cursor=${cursor}`);
    expect(status).toBe(200);
    events.push(...body.events);
    cursor = body.cursor;
    if (body.complete) return { events, cursor };
  }
}

test('the events of all agents come with their agent, in the order of each, and resume from any cursor', async () => {
  const { one, two, other, token } = await createWorld();
  const { body: start } = await poll(token);
  expect(start).toMatchObject({ events: [], complete: true });
  const threads = [await startThread(service, other, [one]), await startThread(service, other, [two])];
  for (let number = 1; number <= 6; number += 1)
    await sendTo(service, other, threads[number % 2] ?? '', `Number ${number}`);
  const { events, cursor } = await readAll(token, start.cursor);
  const numbers = (agent: TestAgent) =>
    textsOf(events).flatMap(([id, text]) => (id === agent.id && text !== 'Hello there' ? [text] : []));
  expect(numbers(one)).toEqual(['Number 2', 'Number 4', 'Number 6']);
  expect(numbers(two)).toEqual(['Number 1', 'Number 3', 'Number 5']);
  for (const [index, event] of events.entries()) {
    const rest = await readAll(token, event.cursor);
    const ids = (list: typeof events) =>
      list.map(({ agent_id, data }) => `${agent_id} ${data.content}`).toSorted();
    expect(ids(rest.events)).toEqual(ids(events.slice(index + 1)));
  }
  expect((await readAll(token, cursor)).events).toEqual([]);
});

test('a long poll returns with the first event, and a WebSocket continues from its cursor', async () => {
  const { two, other, token, ws } = await createWorld();
  const { body: start } = await poll(token);
  const waiting = poll(token, `&wait=20&cursor=${start.cursor}`);
  const thread = await startThread(service, other, [two], { content: 'First' });
  const { body } = await waiting;
  expect(body.events[0]).toMatchObject({ agent_id: two.id });
  const { events, cursor } = await readAll(token, body.cursor);
  expect(textsOf([...body.events, ...events])).toEqual([[two.id, 'First']]);
  const socket = await connectWebSocket(service.url, { path: '/ws?watch=owner', cursor, token: ws });
  await sendTo(service, other, thread, 'Second');
  await expect.poll(() => JSON.stringify(socket.frames)).toContain('Second');
  expect(JSON.stringify(socket.frames)).not.toContain('First');
  await socket.close();
});

test('it moves no mark, no receipt, no position and no presence', async () => {
  const { one, two, other, token, ws } = await createWorld();
  const thread = await startThread(service, other, [one, two]);
  const state = async () => ({
    receipts: (await service.get(other, `/threads/${thread}/receipts`)).body,
    heads: await service
      .sql('select * from feed_positions where agent_id = any($1)', [[one.id, two.id]])
      .catch(() => []),
    unread: (await service.get(two, `/threads/${thread}`)).body.unread_count,
    online: (await service.get(other, `/agents/${two.id}`)).body.is_online,
  });
  const before = await state();
  const socket = await connectWebSocket(service.url, {
    path: '/ws?watch=owner',
    cursor: 'earliest',
    token: ws,
  });
  await expect.poll(() => JSON.stringify(socket.frames)).toContain('Hello there');
  const { events } = await readAll(token, 'earliest');
  expect(textsOf(events)).toContainEqual([two.id, 'Hello there']);
  expect(await state()).toEqual(before);
  await socket.close();
});

test('a new agent is included from its first event, and a deleted one no longer', async () => {
  const { ada, two, other, token } = await createWorld();
  const { body: start } = await poll(token);
  const three = await ada.agent('three');
  await startThread(service, other, [three], { content: 'To the new one' });
  const first = await readAll(token, start.cursor);
  expect(textsOf(first.events)).toEqual([[three.id, 'To the new one']]);
  await startThread(service, other, [two], { content: 'To the deleted one' });
  const retiring = await service.token(two.handle, { scopes: ['agents:write'] });
  await service.delete({ token: retiring }, `/agents/${two.id}`);
  expect(textsOf((await readAll(token, first.cursor)).events)).toEqual([]);
});

describe('it is refused', () => {
  test('with too many readers of one owner, whichever of its agents they read as', async () => {
    const { one, two, ws } = await createWorld();
    const token = await service.token(two.handle, { scopes: [...scopes], audience: 'ws' });
    const open = async (as: string) => connectWebSocket(service.url, { path: '/ws?watch=owner', token: as });
    const sockets = await Promise.all(Array.from({ length: 30 }, (_, at) => open(at % 2 === 0 ? ws : token)));
    for (const as of [ws, token])
      expect((await refused(service.url, { path: '/ws?watch=owner', token: as })).status).toBe(429);
    expect(one.id).not.toBe(two.id);
    await Promise.all(sockets.map((socket) => socket.close()));
  });

  test('without the scope, with another value, and with a cursor of another feed or token', async () => {
    const { one, two, token } = await createWorld();
    const plain = await service.token(one.handle, { scopes: ['threads:read', 'realtime:read'] });
    const { status, body } = await poll(plain);
    expect([status, body.error.code, body.error.message]).toEqual([
      403,
      'INSUFFICIENT_SCOPE',
      'watch=owner needs a token with the scope conversations:read.',
    ]);
    expect((await service.get({ token }, '/events?watch=all')).status).toBe(400);
    const feed = await service.get({ token: plain }, '/events');
    expect((await poll(token, `&cursor=${feed.body.cursor}`)).body.error.code).toBe('INVALID_CURSOR');
    const { body: own } = await poll(token);
    const others = await service.token(two.handle, { scopes: [...scopes] });
    expect((await poll(others, `&cursor=${own.cursor}`)).body.error.code).toBe('INVALID_CURSOR');
    const socket = await service.token(one.handle, { scopes: ['threads:read'], audience: 'ws' });
    expect((await refused(service.url, { path: '/ws?watch=owner', token: socket })).status).toBe(403);
  });
});

test('the client library gives an event once for each agent that gets it', async () => {
  const { one, two, other, token } = await createWorld();
  await startThread(service, other, [one, two], { content: 'To both' });
  const client = createClient({ url: service.url, auth: token });
  const told: (string | undefined)[] = [];
  for await (const event of client.events({ watch: 'owner', start: 'earliest', transport: 'poll' })) {
    if (event.type === 'message.created') told.push(event.agent_id);
    if (told.length === 2) break;
  }
  expect(new Set(told)).toEqual(new Set([one.id, two.id]));
});

test.each(['websocket', 'poll'] as const)(
  'the client library watches by %s, and resumes',
  async (transport) => {
    const { two, other, token } = await createWorld();
    const auth = transport === 'poll' ? token : await service.token(two.handle, { scopes: [...scopes] });
    const client = createClient({ url: service.url, auth });
    const saved: { cursor?: string } = {};
    const cursor = {
      load: async () => saved.cursor,
      save: async (value: string) => void (saved.cursor = value),
    };
    const thread = await startThread(service, other, [two], { content: 'First' });
    const read = async (text: string) => {
      for await (const event of client.events({ watch: 'owner', start: 'earliest', transport, cursor })) {
        if (event.type !== 'message.created' || event.data.content !== text) continue;
        await cursor.save(event.cursor);
        return event.agent_id;
      }
      return undefined;
    };
    expect(await read('First')).toBe(two.id);
    await sendTo(service, other, thread, 'Second');
    expect(await read('Second')).toBe(two.id);
  },
);
