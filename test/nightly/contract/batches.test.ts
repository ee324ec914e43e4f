import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

/** Two agents with a thread, and a function that sends a batch in it. */
async function startThread(world: World) {
  await world.agent('ann');
  await world.agent('bob');
  const body = { with_handle: world.handle('bob') };
  const created = await world.request('ann', 'POST', '/v1/threads', { body });
  const messages = `/v1/threads/${created.body.id}/messages`;
  return {
    messages,
    send: (parts: unknown, key?: string | null) =>
      world.request('ann', 'POST', `${messages}:batch`, {
        body: { messages: parts },
        ...(key !== undefined && { key }),
      }),
  };
}

sameAnswers('a batch is sent in its order, once under its key and those of its messages', async (world) => {
  const { send, messages } = await startThread(world);
  const parts = [
    { content: 'one', idempotency_key: 'a' },
    { content: '**two**', content_type: 'markdown', metadata: { n: 2 } },
  ];
  await send(parts, 'first');
  await send(parts, 'first');
  await send([...parts, { content: 'three' }], 'first');
  await send(parts, null);
  await send([{ content: 'one', idempotency_key: 'a' }, { content: 'three' }]);
  await send([{ content: 'other', idempotency_key: 'a' }, { content: 'four' }]);
  await world.request('ann', 'POST', messages, { key: 'a', body: { content: 'one' } });
  await world.request('ann', 'POST', messages, { key: 'b', body: { content: 'five' } });
  await send([{ content: 'five', idempotency_key: 'b' }]);
  await world.request('ann', 'GET', `${messages}?order=asc`);
  await world.events('bob', 6);
});

sameAnswers('a batch says which of its messages were refused', async (world) => {
  const { send, messages } = await startThread(world);
  const missing = { content: 'x', attachment_ids: ['att_00000000000000000000000001'] };
  const reply = { content: 'y', reply_to: 'msg_00000000000000000000000001' };
  await send([{ content: 'one' }, missing, reply, { content: 'two' }]);
  await send([missing, missing]);
  await send([missing, reply]);
  await send([{ content: 'x'.repeat(32_769) }, { content: 'three' }]);
  await world.request('ann', 'GET', `${messages}?order=asc`);
});

sameAnswers('a batch with wrong input is refused as a whole', async (world) => {
  const { send, messages } = await startThread(world);
  await send([]);
  await send('text');
  await send([{ content: 'one' }, { content: '' }]);
  await send([{ content: 'one' }, {}]);
  await send([{ content: 'one' }, { content: 'two', metadata: { text: 'x'.repeat(4_096) } }]);
  await send([{ content: 'one', attachment_ids: ['att_1', 'att_1'] }]);
  await send([{ content: 'one', idempotency_key: 'a b' }]);
  await send([
    { content: 'one', idempotency_key: 'a' },
    { content: 'two', idempotency_key: 'a' },
  ]);
  await send(Array.from({ length: 101 }, () => ({ content: 'x' })));
  await world.agent('carl');
  const body = { messages: [{ content: 'hidden' }] };
  await world.request('carl', 'POST', `${messages}:batch`, { body });
  const token = await world.token('ann', ['threads:read']);
  await world.request(null, 'POST', `${messages}:batch`, { token, body });
  await world.request('ann', 'GET', messages);
});
