import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

const leases = '/v1/inbox/leases';

async function startTalk(world: World) {
  for (const name of ['ann', 'bob', 'eve']) await world.agent(name);
  const { body } = await world.request('ann', 'POST', '/v1/threads', {
    body: { with_handle: world.handle('bob') },
  });
  const path = `/v1/threads/${body.id}`;
  return {
    path,
    send: async (name: string, fields: object = {}): Promise<string> =>
      (await world.request(name, 'POST', `${path}/messages`, { body: { content: 'text', ...fields } })).body
        .id,
    withdraw: (name: string, id: string) => world.request(name, 'POST', `/v1/messages/${id}/withdraw`),
    list: (name: string) => world.request(name, 'GET', `${path}/messages`),
  };
}

sameAnswers('a message is withdrawn by its sender, once, and only in an active thread', async (world) => {
  const { path, send, withdraw, list } = await startTalk(world);
  const first = await send('ann', { metadata: { n: 1 }, content_type: 'markdown' });
  const second = await send('bob', { reply_to: first });
  for (const name of ['ann', 'ann', 'bob', 'eve']) await withdraw(name, first);
  await withdraw('ann', 'msg_01ARZ3NDEKTSV4RRFFQ69G5FAV');
  await list('bob');
  await world.request('ann', 'PATCH', path, { body: { status: 'closed' } });
  await withdraw('bob', second);
  await withdraw('ann', first);
  await world.events('ann', 5);
  await world.events('bob', 5);
});

sameAnswers('a repeated send returns the withdrawn message', async (world) => {
  const { path, withdraw } = await startTalk(world);
  const again = () =>
    world.request('ann', 'POST', `${path}/messages`, { body: { content: 'once' }, key: 'k' });
  const { body } = await again();
  await withdraw('ann', body.id);
  await again();
  const messages = [{ content: 'once', idempotency_key: 'k' }];
  await world.request('ann', 'POST', `${path}/messages:batch`, { body: { messages } });
});

sameAnswers('a withdrawn question cancels its task, and a claim skips withdrawn messages', async (world) => {
  const { path, send, withdraw } = await startTalk(world);
  await world.request('bob', 'PUT', '/v1/inbox', { body: {} });
  const ask = await world.request('ann', 'POST', `${path}/ask`, {
    body: { content: 'When?', wait_seconds: 0 },
  });
  const skipped = await send('ann');
  const leased = await send('ann');
  const claim = (max: number) => world.request('bob', 'POST', leases, { body: { max, consumer: 'a' } });
  await withdraw('ann', skipped);
  await withdraw('ann', ask.body.message.id);
  await world.request('bob', 'GET', `/v1/tasks/${ask.body.task.id}`);
  const { body } = await claim(5);
  await withdraw('ann', leased);
  await world.request('bob', 'POST', `${leases}/${body.leases[0]?.id}/release`, { body: {} });
  await claim(5);
  await world.events('bob', 9);
});

sameAnswers('a message replaces another one of its sender', async (world) => {
  const { path, send, withdraw, list } = await startTalk(world);
  const [old, foreign, gone] = [await send('ann'), await send('bob'), await send('ann')];
  await withdraw('ann', gone);
  await send('ann', { content: 'new', replaces: old });
  for (const replaces of [old, foreign, gone, 'msg_01ARZ3NDEKTSV4RRFFQ69G5FAV'])
    await send('ann', { replaces });
  await list('bob');
  const ask = await world.request('ann', 'POST', `${path}/ask`, {
    body: { content: 'When?', wait_seconds: 0 },
  });
  await send('ann', { content: 'When exactly?', replaces: ask.body.message.id });
  await world.request('bob', 'GET', `/v1/tasks/${ask.body.task.id}`);
  await world.request('bob', 'PUT', '/v1/inbox', { body: { from: 'earliest' } });
  await world.request('bob', 'POST', leases, { body: { max: 9, consumer: 'a' } });
  await world.events('bob', 10);
});
