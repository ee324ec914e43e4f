import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

async function open(world: World, body: object = {}): Promise<string> {
  const created = await world.request('ann', 'POST', '/v1/threads', {
    body: { with_handle: world.handle('bob'), ...body },
  });
  return `/v1/threads/${created.body.id}`;
}

async function trio(world: World): Promise<void> {
  for (const name of ['ann', 'bob', 'cleo']) await world.agent(name);
}

sameAnswers('a thread is created, listed, read, changed and left', async (world) => {
  await trio(world);
  const thread = await open(world, {
    subject: 'Order 1042',
    reason: 'A customer asks.',
    initial_message: 'Where is it?',
  });
  await world.request('bob', 'GET', thread);
  await world.request('cleo', 'GET', thread);
  await world.request('bob', 'GET', '/v1/threads?unread=true');
  await world.request('ann', 'GET', '/v1/threads?unread=true');
  await world.request('bob', 'POST', `${thread}/members`, { body: { handle: world.handle('cleo') } });
  await world.request('bob', 'POST', `${thread}/members`, { body: { handle: world.handle('cleo') } });
  await world.request('cleo', 'GET', thread);
  await world.request('cleo', 'PATCH', thread, { body: { subject: 'Order 1043' } });
  await world.request('ann', 'PATCH', thread, { body: { status: 'closed' } });
  await world.request('ann', 'PATCH', thread, { body: { status: 'closed' } });
  await world.request('ann', 'POST', `${thread}/messages`, { body: { content: 'closed' } });
  await world.request('bob', 'POST', `${thread}/members`, { body: { handle: world.handle('ann') } });
  await world.request('ann', 'PATCH', thread, { body: { status: 'archived' } });
  await world.request('ann', 'PATCH', thread, { body: { status: 'closed' } });
  await world.request('ann', 'GET', '/v1/threads');
  await world.request('ann', 'GET', '/v1/threads?status=archived');
  await world.request('ann', 'PATCH', thread, { body: {} });
  await world.request('bob', 'DELETE', `${thread}/members/${world.handle('cleo')}`);
  await world.request('bob', 'DELETE', `${thread}/members/${world.handle('cleo')}`);
  await world.request('bob', 'DELETE', `${thread}/members/${world.handle('bob')}`);
  await world.request('bob', 'GET', thread);
  await world.events('ann', 8);
  await world.events('bob', 8);
  await world.events('cleo', 5);
});

sameAnswers('messages have sequences, read marks and unread counts', async (world) => {
  await trio(world);
  const thread = await open(world);
  const send = (name: string, content: string, more: object = {}) =>
    world.request(name, 'POST', `${thread}/messages`, { body: { content, ...more } });
  const first = await send('ann', 'one', { metadata: { n: 1 }, content_type: 'markdown' });
  await send('bob', 'two', { reply_to: first.body.id, reason: 'because' });
  await send('bob', 'three');
  await send('ann', 'four', { reply_to: 'msg_01ARZ3NDEKTSV4RRFFQ69G5FAV' });
  await send('ann', 'five');
  for (const name of ['ann', 'bob']) await world.request(name, 'GET', thread);
  await world.request('ann', 'POST', `${thread}/read`, { body: { up_to_sequence: 2 } });
  await world.request('ann', 'POST', `${thread}/read`, { body: { up_to_sequence: 1 } });
  await world.request('ann', 'GET', thread);
  await world.request('ann', 'POST', `${thread}/read`, { body: { up_to_sequence: 99 } });
  await world.request('ann', 'GET', thread);
  await world.request('ann', 'GET', `${thread}/messages?limit=2`);
  await world.request('ann', 'GET', `${thread}/messages?order=asc&after_sequence=1`);
  await world.request('cleo', 'GET', `${thread}/messages`);
  await world.request('ann', 'POST', `${thread}/read`, { body: { up_to_sequence: -1 } });
  await world.events('ann', 7);
  await world.events('bob', 7);
  await world.events('cleo', 0);
});

sameAnswers('pages of a list continue without repetition', async (world) => {
  await trio(world);
  const thread = await open(world);
  for (const content of ['1', '2', '3', '4', '5'])
    await world.request('ann', 'POST', `${thread}/messages`, { body: { content } });
  const pages = `${thread}/messages?limit=2`;
  const first = await world.request('ann', 'GET', pages);
  await world.request('ann', 'POST', `${thread}/messages`, { body: { content: '6' } });
  const cursor = encodeURIComponent(first.body.next_cursor);
  await world.request('ann', 'GET', `${pages}&cursor=${cursor}`).then(({ status }) => world.note(status));
  await world
    .request('ann', 'GET', `${thread}/messages?order=asc&cursor=${cursor}`)
    .then(({ body }) => world.note(body.error));
  await world.request('bob', 'GET', '/v1/threads?limit=1');
});

sameAnswers('the receipts of a thread', async (world) => {
  await trio(world);
  const thread = await open(world, { initial_message: 'Read this.' });
  await world.request('bob', 'POST', `${thread}/read`, { body: { up_to_sequence: 1 } });
  await world.request('ann', 'GET', `${thread}/receipts`);
  await world.request('cleo', 'GET', `${thread}/receipts`);
});

sameAnswers('ask returns the reply, or null', async (world) => {
  await trio(world);
  const answer = await world.request('ann', 'POST', '/v1/threads/ask', {
    body: { with_handle: world.handle('bob'), content: 'Are you there?', wait_seconds: 0 },
  });
  const thread = `/v1/threads/${answer.body.message.thread_id}`;
  await world.request('bob', 'POST', `${thread}/messages`, { body: { content: 'Yes.' } });
  await world.request('ann', 'GET', `${thread}/reply?after_sequence=1`);
  await world.request('ann', 'POST', `${thread}/ask`, { body: { content: 'Good.', wait_seconds: 0 } });
  await world.request('ann', 'POST', '/v1/threads/ask', { body: { content: 'Without a recipient' } });
});
