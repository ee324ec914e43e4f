import { expect, test, vi } from 'vitest';
import type { Bus } from '../../../src/platform/bus/bus.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { requestRest } from '../../clients/rest.ts';
import { backends, type Backend, createTestSettings, startService } from '../../support/service.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { stopAfterTest } from '../../support/use.ts';

interface Options {
  backend?: Backend;
  /** Changes what the sending process publishes. */
  wrapBus?(bus: Bus): Bus;
  /** Scopes of the reader's token. */
  scopes?: readonly ['contacts:read'] | readonly ['threads:read'];
}

/** Two API processes of one installation: a thread of two, whose messages are sent at one and read at the other. */
async function startTwo({ backend = 'postgres', wrapBus, scopes = ['threads:read'] }: Options = {}) {
  const settings = await createTestSettings(backend);
  const shared = { env: settings.env, release: async () => {} };
  const sending = stopAfterTest(
    await startService({ settings, worker: false, overrides: wrapBus ? { wrapBus } : {} }),
  );
  const reading = stopAfterTest(
    await startService({ settings: shared, worker: false, overrides: { announceMs: 50 } }),
  );
  const [sender, receiver] = [await sending.agent(), await sending.agent()];
  const thread_id = await sending.thread(sender, receiver);
  const { feed } = reading.core.db;
  const queries = { read: vi.spyOn(feed, 'read'), readEvents: vi.spyOn(feed, 'readEvents') };
  const announced = waitForAnnouncement(sending.core.bus, `events/${sending.core.config.VERSION}`);
  const client = stopAfterTest(
    await connectWebSocket(reading.url, {
      token: await reading.token(receiver.handle, { scopes }),
    }),
  );
  await announced;
  return {
    sending,
    reading,
    client,
    queries,
    topic: `events/${sending.core.config.VERSION}`,
    sender,
    receiver,
    thread_id,
    async send(content: string) {
      const sent = await sending.post(sender, `/threads/${thread_id}/messages`, { content });
      expect(sent.status).toBe(201);
    },
    contents: () =>
      client.events().flatMap(({ type, data }) => (type === 'message.created' ? [data?.['content']] : [])),
  };
}

/** Resolves when another process has announced that it has readers. */
function waitForAnnouncement(bus: Bus, topic: string): Promise<void> {
  return new Promise((resolve) => {
    bus.subscribe(topic, (body) => {
      if (!body.includes(' ')) resolve();
    });
  });
}

const texts = Array.from({ length: 30 }, (_, at) => `message ${at} 🚲`);

await describeWithRedis('two API processes', () => {
  test.each(backends)(
    'events reach the other process without a query for each, in order (%s)',
    async (backend) => {
      const { client, queries, send, contents } = await startTwo({ backend });
      queries.read.mockClear();
      queries.readEvents.mockClear();
      for (const text of texts) await send(text);
      await client.waitUntil(() => contents().length === texts.length);
      expect(contents()).toEqual(texts);
      // On a busy machine the poll can be quicker than the bus once.
      expect(queries.read.mock.calls.length + queries.readEvents.mock.calls.length).toBeLessThan(4);
    },
  );
});

test('events that are too large for the bus are read from the feed, in order with the others', async () => {
  const { client, queries, send, contents } = await startTwo();
  queries.readEvents.mockClear();
  const mixed = texts.map((text, at) => (at % 3 === 1 ? text.repeat(500) : text));
  for (const text of mixed) await send(text);
  await client.waitUntil(() => contents().length === mixed.length);
  expect(contents()).toEqual(mixed);
  expect(queries.readEvents).toHaveBeenCalled();
});

test.each([
  ['lost', () => []],
  ['doubled', (body: string) => [body, body]],
  ['garbled', (body: string) => [body.slice(0, -9)]],
  ['sent by somebody else', (body: string) => [body.replace(/^\S+/, 'somebody')]],
])('nothing is lost, doubled or reordered when each second event is %s', async (_, change) => {
  let count = 0;
  const wrapBus = (bus: Bus): Bus => ({
    ...bus,
    publish: (messages) =>
      bus.publish(
        messages.flatMap(({ topic, body }) => {
          const isChanged = topic.startsWith('events/') && body.includes(' ') && (count += 1) % 2 === 0;
          return (isChanged ? change(body) : [body]).map((changed) => ({ topic, body: changed }));
        }),
      ),
  });
  const { client, send, contents } = await startTwo({ wrapBus });
  for (const text of texts) await send(text);
  await client.waitUntil(() => contents().length >= texts.length);
  await send('the last one');
  await client.waitUntil(() => contents().includes('the last one'));
  expect(contents()).toEqual([...texts, 'the last one']);
  expect(count).toBeGreaterThan(20);
});

test('events that arrive after newer ones change nothing', async () => {
  const held: { topic: string; body: string }[] = [];
  const wrapBus = (bus: Bus): Bus => ({
    ...bus,
    async publish(messages) {
      const late = messages.filter(({ topic, body }) => topic.startsWith('events/') && body.includes(' '));
      await bus.publish([...messages.filter((message) => !late.includes(message)), ...held.splice(0)]);
      held.push(...late);
    },
  });
  const { client, send, contents } = await startTwo({ wrapBus });
  for (const text of texts) await send(text);
  await client.waitUntil(() => contents().length >= texts.length);
  expect(contents()).toEqual(texts);
});

test('a reader without the scope gets no event from the bus', async () => {
  const { client, send, reading, receiver, topic } = await startTwo({ scopes: ['contacts:read'] });
  const relayed: string[] = [];
  reading.core.bus.subscribe(topic, (body) => void relayed.push(body));
  for (const text of texts.slice(0, 5)) await send(text);
  await vi.waitFor(() => expect(relayed.filter((body) => body.includes(' ')).length).toBeGreaterThan(4));
  await reading.write(async (work) => {
    const data = { agent_id: receiver.id, canonical_handle: receiver.handle };
    work.changes.emit({ type: 'contact.removed', recipients: [receiver.id], data });
  });
  await client.waitUntil(() => client.events().some(({ type }) => type === 'contact.removed'));
  expect(client.events().map(({ type }) => type)).toEqual(['contact.removed']);
});

test('messages that two processes send to one thread at once arrive at both in the order of the thread', async () => {
  const { sending, reading, client, sender, receiver, thread_id } = await startTwo();
  const other = stopAfterTest(
    await connectWebSocket(sending.url, { token: await sending.token(sender.handle) }),
  );
  const sent = await Promise.all(
    Array.from({ length: 120 }, (_, at) => {
      const { api } = at % 3 === 0 ? reading : sending;
      const { token } = at % 2 === 0 ? sender : receiver;
      const body = { content: `${at}` };
      return requestRest('POST', `${api}/threads/${thread_id}/messages`, { token, body });
    }),
  );
  const ordered = sent
    .map(({ body }) => ({ id: String(body.id), sequence: Number(body.sequence) }))
    .toSorted((one, next) => one.sequence - next.sequence);
  for (const { events, waitUntil } of [client, other]) {
    const messages = () => events().filter(({ type }) => type === 'message.created');
    await waitUntil(() => messages().length >= sent.length);
    expect(messages().map(({ data }) => data?.['id'])).toEqual(ordered.map(({ id }) => id));
  }
});
