import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { connectWebSocket, type Frame, type WsClient } from '../../clients/websocket.ts';
import { startRealtimeNode } from './realtime-node.ts';
import { use } from '../../support/use.ts';

const node = use(startRealtimeNode);

function subjectsOf(client: WsClient): unknown[] {
  return client.events().map(({ data }) => data?.['subject']);
}

function isSubject(subject: string) {
  return ({ data }: Frame) => data?.['subject'] === subject;
}

test('an event arrives in its envelope, complete and equal for all members', async () => {
  const [ada, bob] = [await node.agent(), await node.agent()];
  const clients = [
    await connectWebSocket(node.address, { token: await node.token(ada) }),
    await connectWebSocket(node.address, { token: await node.token(ada) }),
    await connectWebSocket(node.address, { token: await node.token(bob) }),
  ];
  const thread = newId('thread');
  await node.emit([ada, bob], 'quotes " and \u2028 and 雪', thread);
  const [first, second, third] = await Promise.all(clients.map((client) => client.next(() => true)));
  expect(first).toEqual({
    type: 'thread.updated',
    id: expect.stringMatching(/^evt_/),
    cursor: node.cursors.encodeFeed(ada, 1),
    created_at: expect.any(Number),
    data: expect.objectContaining({ id: thread, subject: 'quotes " and \u2028 and 雪' }),
  });
  expect(second).toEqual(first);
  expect(third).toEqual({ ...first, cursor: node.cursors.encodeFeed(bob, 1) });
  await Promise.all(clients.map((client) => client.close()));
});

test('a client that connects during writes receives every event after its start position once', async () => {
  const agent = await node.agent();
  const token = await node.token(agent);
  const total = 300;
  const progress = { written: 0 };
  const writing = (async () => {
    for (; progress.written < total; progress.written += 1) {
      await node.emit([agent], String(progress.written + 1));
      if (progress.written % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
  })();

  const readers: { client: WsClient; from: number }[] = [];
  const visits: Promise<void>[] = [];
  let visitors = 0;
  // However slow the machine is, there are no more readers than it can serve.
  while (progress.written < total && visitors < 50) {
    // By turns: now, from the start, from a position somewhere before.
    const from = [undefined, 0, Math.floor(Math.random() * (progress.written + 1))][visitors % 3];
    const cursor = from === undefined ? {} : { cursor: node.cursors.encodeFeed(agent, from) };
    const known = progress.written;
    const client = await connectWebSocket(node.address, { token, ...cursor });
    let start = from;
    if (start === undefined) {
      start = numberOf(agent, client.ready.cursor, known);
      expect(client.ready.resumed).toBe(false);
    } else {
      expect(client.ready).toMatchObject({ resumed: true, gap: false, ...cursor });
    }
    readers.push({ client, from: start });
    visitors += 1;
    if (visitors % 5 === 0) {
      // Some leave in the middle and come back with the last cursor they saw.
      const at = client.frames.length;
      await client.waitUntil(() => client.frames.length > at || progress.written === total);
      client.disconnect();
      visits.push(comeBack(client, token, agent, start));
      readers.pop();
    }
    await new Promise((resolve) => setTimeout(resolve, 15));
  }
  await writing;
  for (const { client, from } of readers) {
    await client.waitUntil(() => client.frames.length >= total - from);
    expect(subjectsOf(client)).toEqual(numbers(from, total));
    expect(client.events().map(({ cursor }) => cursor)).toEqual(
      numbers(from, total).map((number) => node.cursors.encodeFeed(agent, Number(number))),
    );
  }
  await Promise.all(visits);
  expect(visitors).toBeGreaterThan(10);
  await Promise.all(readers.map(({ client }) => client.close()));

  async function comeBack(gone: WsClient, by: string, who: string, from: number): Promise<void> {
    await gone.closed;
    const cursor = gone.events().at(-1)?.cursor ?? gone.ready.cursor;
    const again = await connectWebSocket(node.address, { token: by, cursor });
    const seen = subjectsOf(gone);
    await again.waitUntil(() => again.frames.length + seen.length >= total - from);
    expect([...seen, ...subjectsOf(again)]).toEqual(numbers(from, total));
    expect(again.ready.agent_id).toBe(who);
    await again.close();
  }
});

/** The number that a cursor stands for, at least `least`. */
function numberOf(agent: string, cursor: string, least: number): number {
  for (let number = least; number <= least + 10_000; number += 1) {
    if (node.cursors.encodeFeed(agent, number) === cursor) return number;
  }
  throw new Error('the cursor is before what was committed');
}

function numbers(after: number, last: number): string[] {
  return Array.from({ length: last - after }, (_, index) => String(after + index + 1));
}

test('a token sees the events that its scopes permit', async () => {
  const agent = await node.agent();
  const blind = await connectWebSocket(node.address, {
    token: await node.token(agent, { scopes: ['contacts:read'] }),
  });
  const seeing = await connectWebSocket(node.address, {
    token: await node.token(agent, { scopes: ['realtime:read'] }),
  });
  await node.emit([agent], 'seen');
  await seeing.next(isSubject('seen'));
  blind.send({ type: 'ping' });
  await blind.next(({ type }) => type === 'pong');
  expect(blind.events()).toEqual([]);
  await Promise.all([blind.close(), seeing.close()]);
});

test('subscribe narrows events to the given threads, and unsubscribe widens them again', async () => {
  const agent = await node.agent();
  const client = await connectWebSocket(node.address, { token: await node.token(agent) });
  const [one, two] = [newId('thread'), newId('thread')];
  const settled = async () => {
    client.send({ type: 'ping' });
    await client.next(({ type }) => type === 'pong');
  };
  client.send({ type: 'subscribe', thread_id: one });
  // A thread that is not the agent's own, or is none at all, is told from others by nothing.
  client.send({ type: 'subscribe', thread_id: newId('thread') });
  await settled();
  await node.emit([agent], 'hidden', two);
  await node.emit([agent], 'wanted', one);
  await client.next(isSubject('wanted'));
  client.send({ type: 'subscribe', thread_id: two });
  await settled();
  await node.emit([agent], 'wanted too', two);
  await client.next(isSubject('wanted too'));
  client.send({ type: 'unsubscribe', thread_id: two });
  await settled();
  await node.emit([agent], 'hidden again', two);
  await node.emit([agent], 'still wanted', one);
  await client.next(isSubject('still wanted'));
  expect(subjectsOf(client)).toEqual(['wanted', 'wanted too', 'still wanted']);
  expect(client.frames.filter(({ type }) => type === 'error')).toEqual([]);
  await client.close();
});

test('a narrowed connection gets events without a thread, and all events again when it names no thread', async () => {
  const agent = await node.agent();
  const client = await connectWebSocket(node.address, {
    token: await node.token(agent, { scopes: ['realtime:read'] }),
  });
  const thread_id = newId('thread');
  client.send({ type: 'subscribe', thread_id });
  client.send({ type: 'ping' });
  await client.next(({ type }) => type === 'pong');
  await node.emit([agent], 'elsewhere');
  await node.emitContact(agent, 'eve.bot');
  await client.next(({ data }) => data?.['canonical_handle'] === 'eve.bot');
  // Undone twice is undone; undone for what was not named is nothing.
  for (const each of [newId('thread'), thread_id, thread_id]) {
    client.send({ type: 'unsubscribe', thread_id: each });
  }
  client.send({ type: 'ping' });
  await client.next(({ type }) => type === 'pong');
  await node.emit([agent], 'elsewhere again');
  await client.next(isSubject('elsewhere again'));
  expect(client.events().map(({ type }) => type)).toEqual(['contact.removed', 'thread.updated']);
  await client.close();
});
