import { expect, test } from 'vitest';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { startRealtimeNode } from './realtime-node.ts';
import { stopAfterTest, use } from '../../support/use.ts';

const node = use(() => startRealtimeNode({ webSocketLimits: { subscriptions: 5 } }));

async function client() {
  return connectWebSocket(node.address, { token: await node.token(await node.agent()) });
}

const thread = newId('thread');

const faults: [what: string, frame: string | Buffer | object, code: string][] = [
  ['no JSON', 'hello', 'INVALID_JSON'],
  ['nothing', '', 'INVALID_JSON'],
  ['half of it', '{"type":"ping"', 'INVALID_JSON'],
  ['very deep JSON', '['.repeat(30_000), 'INVALID_JSON'],
  ['bytes', Buffer.from([0, 1, 2, 255]), 'VALIDATION_ERROR'],
  ['null', 'null', 'VALIDATION_ERROR'],
  ['a list', [{ type: 'ping' }], 'VALIDATION_ERROR'],
  ['no type', {}, 'VALIDATION_ERROR'],
  ['an unknown type', { type: 'message.created' }, 'VALIDATION_ERROR'],
  ['a type of another type', { type: 7 }, 'VALIDATION_ERROR'],
  ['the name of an inherited property', { type: 'constructor' }, 'VALIDATION_ERROR'],
  ['subscribe without a thread', { type: 'subscribe' }, 'VALIDATION_ERROR'],
  ['subscribe to a number', { type: 'subscribe', thread_id: 1 }, 'VALIDATION_ERROR'],
  ['subscribe to another kind', { type: 'subscribe', thread_id: newId('message') }, 'VALIDATION_ERROR'],
  ['unsubscribe from nothing', { type: 'unsubscribe', thread_id: '' }, 'VALIDATION_ERROR'],
  ['ack without a cursor', { type: 'ack' }, 'VALIDATION_ERROR'],
  ['ack of nonsense', { type: 'ack', cursor: 'nonsense' }, 'INVALID_CURSOR'],
];

test.each(faults)('%s gets an error, and the connection stays open', async (_, frame, code) => {
  const one = await client();
  one.send(frame);
  const error = await one.next(({ type }) => type === 'error');
  expect(error).toEqual({ type: 'error', data: { code, message: expect.any(String) } });
  one.send({ type: 'ping' });
  expect(await one.next(({ type }) => type === 'pong')).toEqual({ type: 'pong' });
  await one.close();
});

test('a foreign cursor cannot be acknowledged', async () => {
  const one = await client();
  one.send({ type: 'ack', cursor: node.cursors.encodeFeed(await node.agent(), 0) });
  expect((await one.next(() => true)).data).toMatchObject({ code: 'INVALID_CURSOR' });
  await one.close();
});

test('a position that cannot be stored now gets an error, and can be sent again', async () => {
  const outage = stopAfterTest(await startRealtimeNode());
  const agent = await outage.agent();
  await outage.emit([agent], 'first');
  const one = await connectWebSocket(outage.address, { token: await outage.token(agent) });
  const cursor = outage.cursors.encodeFeed(agent, 1);
  await outage.database.query({ text: 'alter table feed_heads rename to away' }, []);
  one.send({ type: 'ack', cursor });
  expect((await one.next(() => true)).data).toMatchObject({ code: 'UNAVAILABLE' });
  await outage.database.query({ text: 'alter table away rename to feed_heads' }, []);
  one.send({ type: 'ack', cursor });
  const kept = async () => (await outage.db.feed.readCounters([agent]))[0]?.acknowledged_number;
  await expect.poll(kept).toBe(1);
  expect(one.frames).toHaveLength(1);
  expect(outage.logged).toContainEqual(
    expect.objectContaining({ message: 'cannot store an acknowledged position' }),
  );
  await one.close();
});

test('a frame over 256 KiB ends the connection with 1009; one of the maximum size does not', async () => {
  const within = await client();
  within.send('x'.repeat(256 * 1024));
  await within.next(({ data }) => data?.['code'] === 'INVALID_JSON');
  within.send('x'.repeat(257 * 1024));
  expect(await within.closed).toMatchObject({ code: 1009 });
});

test('frames that are not UTF-8 end the connection with 1007', async () => {
  const one = await client();
  // A text frame by hand would need the raw socket; the client library sends bytes as binary, so it is told they are text.
  one.sendText(Buffer.from([0xff, 0xfe]));
  expect(await one.closed).toMatchObject({ code: 1007 });
});

test('the number of threads in a subscription is limited, and a repeated one counts once', async () => {
  const one = await client();
  for (let count = 0; count < 10; count += 1) one.send({ type: 'subscribe', thread_id: thread });
  for (let count = 0; count < 4; count += 1) one.send({ type: 'subscribe', thread_id: newId('thread') });
  one.send({ type: 'ping' });
  expect(await one.next(() => true)).toEqual({ type: 'pong' });
  one.send({ type: 'subscribe', thread_id: newId('thread') });
  expect((await one.next(() => true)).data).toMatchObject({ code: 'VALIDATION_ERROR' });
  one.send({ type: 'unsubscribe', thread_id: thread });
  one.send({ type: 'subscribe', thread_id: newId('thread') });
  one.send({ type: 'ping' });
  expect(await one.next(() => true)).toEqual({ type: 'pong' });
  await one.close();
});

test('a flood of frames gets an error and ends the connection with 1008', async () => {
  const one = await client();
  for (let count = 0; count < 2_000; count += 1) one.send({ type: 'ping' });
  expect(await one.closed).toMatchObject({ code: 1008 });
  expect(one.frames.at(-1)).toMatchObject({ type: 'error', data: { code: 'RATE_LIMITED' } });
  expect(one.frames.length).toBeLessThanOrEqual(101);
});

test('a flood of protocol pings, with or without payload, ends the connection', async () => {
  const one = await client();
  for (let count = 0; count < 2_000; count += 1) one.ping();
  expect([1006, 1008]).toContain((await one.closed).code);
  expect(node.logged).toEqual([]);
});

test('a connection that is cut in the middle of a frame does not affect other clients', async () => {
  for (let count = 0; count < 20; count += 1) {
    const one = await client();
    one.send('x'.repeat(60_000));
    one.disconnect();
  }
  await expect.poll(() => node.webSocket.size()).toBe(0);
  expect(node.logged).toEqual([]);
});
