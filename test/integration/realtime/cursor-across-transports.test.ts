import { expect, test } from 'vitest';
import { type TestAgent, useSharedService } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { removeOldFeeds } from '../../../workers/maintenance/feed-retention.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { openSseStream } from '../../clients/sse.ts';

const day = 24 * 3_600_000;

const service = useSharedService();

/** A position in the feed of an agent, as every transport returns it. */
const cursorOf = ({ id }: TestAgent, number: number) => service.core.settings.cursors.encodeFeed(id, number);

/** An agent whose feed starts with the event of its thread and then has `count` messages; with a token for MCP. */
async function agentWithFeed(messages: number) {
  const [agent, friend] = await Promise.all([service.agent(), service.agent()]);
  const thread = await service.thread(friend, agent);
  const send = async (content: string) => {
    expect((await service.post(friend, `/threads/${thread}/messages`, { content })).status).toBe(201);
  };
  for (let number = 1; number <= messages; number += 1) await send(`m${number}`);
  return { agent, send, mcp: await service.token(agent.handle, { audience: 'mcp' }) };
}

/** The first events of the MCP stream. Like the long poll and the WebSocket, it reports a gap before anything else. */
async function readSse(token: string, cursor?: string) {
  const stream = await openSseStream(`${service.url}/mcp`, {
    Authorization: `Bearer ${token}`,
    Accept: 'text/event-stream',
    ...(cursor !== undefined && { 'Last-Event-ID': cursor }),
  });
  const [first] = await stream.events(1);
  const { method, params } = JSON.parse(first?.data ?? '{}');
  if (method !== 'notifications/service/gap') {
    stream.close();
    return { gap: false, first: params.content };
  }
  const [, second] = await stream.events(2);
  stream.close();
  return { gap: true, first: JSON.parse(second?.data ?? '{}').params.content };
}

async function readWebSocket({ token }: TestAgent, cursor?: string) {
  const client = await connectWebSocket(service.url, { token, ...(cursor !== undefined && { cursor }) });
  const frame = await client.next(({ type }) => type === 'message.created');
  await client.close();
  return { gap: client.ready.gap, first: frame.data?.['content'] };
}

async function readPage({ token }: TestAgent, cursor?: string, wait = 0) {
  const from = cursor === undefined ? '' : `&cursor=${cursor}`;
  const { body } = await service.get({ token }, `/events?wait=${wait}${from}`);
  return { gap: body.gap ?? false, first: body.events[0]?.data.content };
}

/** Reads over one transport after the other. */
async function readThroughEveryTransport({ agent, mcp }: { agent: TestAgent; mcp: string }, cursor?: string) {
  return [
    await readWebSocket(agent, cursor),
    await readSse(mcp, cursor),
    await readPage(agent, cursor),
    await readPage(agent, cursor, 5),
  ];
}

const expectedOnEveryTransport = (answer: { gap: boolean; first: string }) =>
  Array.from({ length: 4 }, () => answer);

test('without a cursor every transport starts at the acknowledged position, which only moves forward', async () => {
  const reader = await agentWithFeed(4);
  const { agent } = reader;
  const socket = await connectWebSocket(service.url, { token: agent.token });
  socket.send({ type: 'ack', cursor: cursorOf(agent, 2) });
  const position = async () => (await service.core.db.feed.readCounters([agent.id]))[0]?.acknowledged_number;
  await expect.poll(position).toBe(2);
  await socket.close();
  expect(await readThroughEveryTransport(reader)).toEqual(
    expectedOnEveryTransport({ gap: false, first: 'm2' }),
  );
  for (const number of [4, 3, 1_000]) {
    const answer = await service.post(agent, '/events/ack', { cursor: cursorOf(agent, number) });
    expect(answer.status).toBe(204);
  }
  expect(await readThroughEveryTransport(reader)).toEqual(
    expectedOnEveryTransport({ gap: false, first: 'm4' }),
  );
  expect(await readThroughEveryTransport(reader, cursorOf(agent, 1))).toEqual(
    expectedOnEveryTransport({ gap: false, first: 'm1' }),
  );
});

test('without a cursor and an acknowledged position, polls start at the oldest event, and connections now', async () => {
  const { agent, mcp, send } = await agentWithFeed(1);
  const socket = await connectWebSocket(service.url, { token: agent.token });
  const stream = await openSseStream(`${service.url}/mcp`, {
    Authorization: `Bearer ${mcp}`,
    Accept: 'text/event-stream',
  });
  expect(socket.ready).toMatchObject({ resumed: false, pending_events: 2 });
  const page = await service.get(agent, '/events');
  expect(page.body.events).toMatchObject([{ type: 'thread.created' }, { data: { content: 'm1' } }]);
  const { value } = await callToolRaw(service.url, mcp, 'wait_for_events', {});
  expect(value['cursor']).toBe(page.body.cursor);
  await send('new');
  const frame = await socket.next(({ id }) => id !== undefined);
  const [event] = await stream.events(1);
  expect(frame.data?.['content']).toBe('new');
  expect(JSON.parse(event?.data ?? '').params.content).toBe('new');
  stream.close();
  await socket.close();
});

test('every transport accepts earliest and latest as a cursor', async () => {
  const reader = await agentWithFeed(2);
  const { agent, mcp, send } = reader;
  await service.core.db.feed.acknowledge([{ agent_id: agent.id, number: 2 }]);
  expect(await readThroughEveryTransport(reader, 'earliest')).toEqual([
    { gap: false, first: 'm1' },
    ...Array.from({ length: 3 }, () => ({ gap: false, first: undefined })),
  ]);
  const socket = await connectWebSocket(service.url, { token: agent.token, cursor: 'latest' });
  expect(socket.ready).toMatchObject({ resumed: false, gap: false, pending_events: 1 });
  const page = await service.get(agent, '/events?cursor=latest');
  expect(page.body).toMatchObject({ events: [], cursor: socket.ready.cursor });
  const latest = { cursor: 'latest', wait_seconds: 0 };
  expect((await callToolRaw(service.url, mcp, 'wait_for_events', latest)).value).toMatchObject({
    events: [],
    cursor: socket.ready.cursor,
  });
  await send('new');
  expect((await socket.next(({ id }) => id !== undefined)).data?.['content']).toBe('new');
  await socket.close();
});

test('expired events are an explicit gap on every transport, with and without a cursor', async () => {
  const reader = await agentWithFeed(3);
  const { agent } = reader;
  await service.core.db.feed.acknowledge([{ agent_id: agent.id, number: 2 }]);
  const cut = Date.now() + 1;
  await expect.poll(() => Date.now(), { interval: 1 }).toBeGreaterThan(cut);
  await reader.send('m4');
  await removeOldFeeds(service.core.db, { now: cut + 30 * day, days: 30 });
  expect(await readThroughEveryTransport(reader, cursorOf(agent, 1))).toEqual(
    expectedOnEveryTransport({ gap: true, first: 'm4' }),
  );
  expect(await readThroughEveryTransport(reader)).toEqual(
    expectedOnEveryTransport({ gap: true, first: 'm4' }),
  );
  expect(await readThroughEveryTransport(reader, cursorOf(agent, 4))).toEqual(
    expectedOnEveryTransport({ gap: false, first: 'm4' }),
  );
});

test('an emptied feed reports the gap too, and continues with new events', async () => {
  const reader = await agentWithFeed(2);
  const { agent } = reader;
  await removeOldFeeds(service.core.db, { now: Date.now() + 40 * day, days: 30 });
  const old = cursorOf(agent, 1);
  const page = await service.get(agent, `/events?cursor=${old}&wait=20`);
  expect(page.body).toEqual({ events: [], cursor: cursorOf(agent, 3), complete: true, gap: true });
  const socket = await connectWebSocket(service.url, { token: agent.token, cursor: old });
  expect(socket.ready).toMatchObject({ gap: true, cursor: cursorOf(agent, 3) });
  await reader.send('m3');
  const frame = await socket.next(({ type }) => type === 'message.created');
  expect(frame).toMatchObject({ cursor: cursorOf(agent, 4), data: { content: 'm3' } });
  await socket.close();
});
