import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { connectWebSocket, refused } from '../../clients/websocket.ts';
import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

async function conversation(world: World) {
  const ann = await world.agent('ann');
  const bob = await world.agent('bob');
  const { body } = await requestRest('POST', `${world.url}/v1/threads`, {
    token: ann.token,
    body: { with_handle: bob.handle },
  });
  const send = (content: string) =>
    requestRest('POST', `${world.url}/v1/threads/${body.id}/messages`, {
      token: ann.token,
      body: { content },
    });
  return { ann, bob, send, thread_id: String(body.id) };
}

const contentOf = ({ data }: { data?: object | undefined }) => Reflect.get(data ?? {}, 'content') as string;

sameAnswers('a WebSocket replays after a cursor and continues live', async (world) => {
  const { bob, send } = await conversation(world);
  await send('one');
  const { body } = await world.request('bob', 'GET', '/v1/events?limit=1');
  await send('two');
  const client = await connectWebSocket(world.url, { token: bob.token, cursor: body.cursor });
  world.note({ ...client.ready, pending_events: client.ready.pending_events });
  await client.next((frame) => contentOf(frame) === 'two');
  await send('three');
  await client.next((frame) => contentOf(frame) === 'three');
  world.note(client.events().map((frame) => [frame.type, contentOf(frame)]));
  client.send({ type: 'ping' });
  world.note(await client.next(({ type }) => type === 'pong'));
  client.send({ type: 'nonsense' });
  world.note((await client.next(({ type }) => type === 'error')).data?.['code']);
  await client.close();
});

sameAnswers('a connection without a cursor starts now, and says what is pending', async (world) => {
  const { bob, send } = await conversation(world);
  await send('before');
  const client = await connectWebSocket(world.url, { token: bob.token });
  world.note(client.ready);
  await send('after');
  await client.next((frame) => contentOf(frame) === 'after');
  world.note(client.events().map(({ type }) => type));
  await client.close();
});

sameAnswers('subscriptions limit a connection to threads', async (world) => {
  const { ann, bob, send, thread_id } = await conversation(world);
  const client = await connectWebSocket(world.url, { token: bob.token });
  client.send({ type: 'subscribe', thread_id });
  client.send({ type: 'ping' });
  await client.next(({ type }) => type === 'pong');
  const body = { with_handle: bob.handle, initial_message: 'elsewhere' };
  await requestRest('POST', `${world.url}/v1/threads`, { token: ann.token, body });
  await send('here');
  await client.next((frame) => contentOf(frame) === 'here');
  world.note(client.events().map((frame) => [frame.type, contentOf(frame)]));
  await client.close();
});

sameAnswers('a WebSocket is refused with the error of REST', async (world) => {
  const { bob } = await conversation(world);
  const limited = await world.token('bob', ['agents:read']);
  for (const options of [
    {},
    { token: 'wrong' },
    { token: limited },
    { token: bob.token, cursor: 'wrong' },
    { ticket: 'x' },
  ]) {
    const { status, body } = await refused(world.url, options);
    world.note([status, body]);
  }
});

sameAnswers('a ticket opens one connection', async (world) => {
  const { bob } = await conversation(world);
  const { body } = await world.request('bob', 'POST', '/v1/realtime/tickets');
  const client = await connectWebSocket(world.url, { ticket: body.ticket });
  world.note(client.ready.agent_id === bob.id);
  world.note((await refused(world.url, { ticket: body.ticket })).status);
  await client.close();
});

sameAnswers('operations are called over the WebSocket', async (world) => {
  const { bob, thread_id } = await conversation(world);
  const client = await connectWebSocket(world.url, { token: bob.token });
  const call = async (operation: string, input: object, more: object = {}) => {
    const id = randomUUID();
    client.send({ type: 'call', id, operation, input, ...more });
    const { id: _id, ...result } = await client.next((frame) => frame.id === id && frame.type === 'result');
    world.note(result);
  };
  await call('get_thread', { thread_id });
  await call('send_message', { thread_id, content: 'x' });
  await call('send_message', { thread_id, content: 'x' }, { idempotency_key: 'k' });
  await call('send_message', { thread_id, content: 'x' }, { idempotency_key: 'k' });
  await call('get_thread', { thread_id: 'thd_x' });
  await call('no_such_operation', {});
  await client.close();
});

sameAnswers('the long poll continues, waits, acknowledges and refuses', async (world) => {
  const { bob, send } = await conversation(world);
  await send('one');
  await send('two');
  const first = await world.request('bob', 'GET', '/v1/events?limit=2');
  const cursor = encodeURIComponent(first.body.cursor);
  await world.request('bob', 'GET', `/v1/events?cursor=${cursor}`);
  const end = await world.request('bob', 'GET', '/v1/events?cursor=latest');
  const waiting = requestRest(
    'GET',
    `${world.url}/v1/events?wait=20&cursor=${encodeURIComponent(end.body.cursor)}`,
    bob,
  );
  await send('three');
  world.note((await waiting).body.events.map(contentOf));
  await world.request('bob', 'POST', '/v1/events/ack', { body: { cursor: first.body.cursor }, key: null });
  await world.request('bob', 'GET', '/v1/events');
  await world.request('bob', 'POST', '/v1/events/ack', { body: { cursor: 'wrong' }, key: null });
  await world.request('bob', 'GET', '/v1/events?cursor=wrong');
  await world.request('bob', 'GET', '/v1/events?wait=31');
  await world.request('ann', 'GET', `/v1/events?cursor=${cursor}`);
});

sameAnswers('the sender learns that its message was delivered', async (world) => {
  const { ann, bob, send } = await conversation(world);
  await send('one');
  await requestRest('GET', `${world.url}/v1/events`, { token: bob.token });
  const received = async () => (await requestRest('GET', `${world.url}/v1/events`, ann)).body.events;
  const types = async () => (await received()).map(({ type }: { type: string }) => type);
  await expect.poll(types).toEqual(['thread.created', 'message.created', 'message.delivered']);
  world.note(await received());
});
