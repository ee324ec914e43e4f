import { sameAnswers, startBothServices } from './compare.ts';

startBothServices();

sameAnswers('requests without a valid token or scope', async (world) => {
  await world.agent('ann');
  await world.request(null, 'GET', '/v1/agents/me');
  await world.request(null, 'GET', '/v1/agents/me', { token: 'not-a-token' });
  const token = await world.token('ann', ['threads:read']);
  await world.request(null, 'POST', '/v1/threads', { token, body: { with_handle: 'a.b' } });
  await world.request(null, 'GET', '/v1/contacts', { token });
  await world.request(null, 'GET', '/v1/agents/me', { token });
  await world.request('ann', 'POST', '/v1/agents', { body: { name: 'x', display_name: 'X' } });
});

sameAnswers('paths and methods that do not exist', async (world) => {
  await world.agent('ann');
  await world.request('ann', 'GET', '/v1/nothing');
  await world.request('ann', 'GET', '/v1/threads/thd_01ARZ3NDEKTSV4RRFFQ69G5FAV');
  await world.request('ann', 'GET', '/v1/agents/absent.here');
  await world.request('ann', 'GET', '/v1/agents/no-handle');
  await world.request('ann', 'GET', '/v1/attachments/att_01ARZ3NDEKTSV4RRFFQ69G5FAV');
});

sameAnswers('invalid input names the fields', async (world) => {
  await world.agent('ann');
  await world.agent('bob');
  const post = (body: unknown) => world.request('ann', 'POST', '/v1/threads', { body });
  await post({});
  await post({ with_handle: world.handle('bob'), participants: [world.handle('bob')] });
  await post({ with_handle: world.handle('bob'), colour: 'red' });
  await post({ with_handle: 7 });
  await post({ with_handle: 'no handle' });
  await post({ with_handle: world.handle('ann') });
  await post({ participants: [world.handle('bob'), world.handle('bob')] });
  await post({ participants: [] });
  await post({ with_handle: world.handle('bob'), subject: 'x'.repeat(201) });
  await post({ with_handle: world.handle('bob'), initial_message: '' });
  await post({ with_handle: world.handle('bob'), metadata: { text: 'x'.repeat(5_000) } });
  const created = await post({ with_handle: world.handle('bob') });
  const messages = `/v1/threads/${created.body.id}/messages`;
  for (const body of [
    {},
    { content: '' },
    { content: 'x'.repeat(40_000) },
    { content: 'x', content_type: 'html' },
  ])
    await world.request('ann', 'POST', messages, { body });
  await world.request('ann', 'POST', messages, {
    body: { content: 'x', attachment_ids: ['att_x', 'att_x'] },
  });
  await world.request('ann', 'POST', messages, { body: { content: 'x', attachment_ids: ['att_x'] } });
  await world.request('ann', 'GET', `${messages}?limit=0`);
  await world.request('ann', 'GET', `${messages}?limit=many`);
  await world.request('ann', 'GET', `${messages}?cursor=nonsense`);
  await world.request('ann', 'GET', '/v1/search?q=');
  await world.request('ann', 'GET', '/v1/search');
});

sameAnswers('bodies that are no JSON object', async (world) => {
  await world.agent('ann');
  const post = (raw: string, headers: Record<string, string> = {}) =>
    world.request('ann', 'POST', '/v1/threads', { raw, headers });
  for (const raw of ['{', '{"a":1,}', 'nonsense', '"text"', '7', 'null', '[]']) await post(raw);
  await post('{}', { 'Content-Type': 'text/plain' });
  await post(`{"subject":"${'x'.repeat(300 * 1024)}"}`);
});

sameAnswers('a key is used once, and a refusal is not stored', async (world) => {
  await world.agent('ann');
  await world.agent('bob');
  const created = await world.request('ann', 'POST', '/v1/threads', {
    body: { with_handle: world.handle('bob') },
  });
  const messages = `/v1/threads/${created.body.id}/messages`;
  const send = (key: string | null, content: string) =>
    world.request('ann', 'POST', messages, { key, body: { content } });
  await send(null, 'a');
  await send('with space', 'a');
  await send('k1', 'a');
  await send('k1', 'a');
  await send('k1', 'b');
  await send('k2', '');
  await send('k2', 'b');
  await world.request('bob', 'POST', messages, { key: 'k1', body: { content: 'c' } });
  await world.request('ann', 'GET', messages);
});
