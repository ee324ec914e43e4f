import { expect } from 'vitest';
import { requestRest } from '../../clients/rest.ts';
import { sameAnswers, startBothServices } from './compare.ts';

startBothServices();

sameAnswers('an agent reads and changes itself, and sees others', async (world) => {
  await world.agent('ann');
  await world.agent('bob', { visibility: 'private', inbound_policy: 'contacts_only' });
  await world.agent('kin', { owner: 'ann' });
  await world.request('ann', 'GET', '/v1/agents/me');
  await world.request('ann', 'PATCH', '/v1/agents/me', { body: { display_name: 'Ann', card_body: '# Ann' } });
  await world.request('ann', 'PATCH', '/v1/agents/me', { body: { display_name: 'Ann' } });
  await world.request('ann', 'PATCH', '/v1/agents/me', { body: { visibility: 'private' } });
  await world.request('ann', 'PATCH', '/v1/agents/me', { body: {} });
  await world.request('ann', 'GET', `/v1/agents/${world.handle('bob')}`);
  await world.request('ann', 'GET', `/v1/agents/${world.handle('kin')}`);
  const [owner, name] = world.handle('kin').split('.');
  await world.request('ann', 'GET', `/v1/agents/${owner}/${name}`);
  await world.request('ann', 'GET', '/v1/agents');
  await world.events('ann', 2);
});

sameAnswers('names are cleaned, and times in seconds are refused', async (world) => {
  await world.agent('ann');
  for (const display_name of [' Ann\n Lee\u202e ', '\u200b', 'x'.repeat(101)])
    await world.request('ann', 'PATCH', '/v1/agents/me', { body: { display_name } });
  for (const since of ['1795690000', '2026-11-26T09:00:00Z', 'yesterday'])
    await world.request('ann', 'GET', `/v1/threads?updated_since=${since}`);
});

sameAnswers('agents are found by parts of their names', async (world) => {
  await world.agent('reader');
  const name = 'zanzibar';
  await world.agent(name);
  await world.agent(`${name}-x`, { visibility: 'private' });
  await world.agent(`${name}-y`, { visibility: 'unlisted' });
  await world.request('reader', 'GET', `/v1/search/agents?q=${name}`);
  await world.request('reader', 'GET', `/v1/search?q=@${name}&limit=5`);
  await world.agent(`${name}-z`, { owner: 'reader', visibility: 'unlisted' });
  await world.request('reader', 'GET', `/v1/search?q=${name}`);
});

sameAnswers('messages are found by their words', async (world) => {
  const { token } = await world.agent('ann');
  await world.agent('bob');
  const created = await world.request('ann', 'POST', '/v1/threads', {
    body: { with_handle: world.handle('bob') },
  });
  const messages = `/v1/threads/${created.body.id}/messages`;
  await world.request('ann', 'POST', messages, { body: { content: 'The warehouse opens in the morning.' } });
  await world.request('bob', 'POST', messages, { body: { content: 'The warehouse sent an invoice.' } });
  const indexed = `${world.url}/v1/messages/search?q=invoice`;
  await expect.poll(async () => (await requestRest('GET', indexed, { token })).body.results.length).toBe(1);
  const find = (name: string, query: string) =>
    world.request(name, 'GET', `/v1/messages/search?${new URLSearchParams(query).toString()}`);
  for (const q of [
    'q=warehouse',
    'q=WAREHOUSE -invoice',
    'q=morn*',
    'q="in the morning"',
    'q="the in"',
    'q=-x',
  ])
    await find('ann', q);
  await find('ann', `q=warehouse&from=${world.handle('bob')}`);
  await find('ann', 'q=warehouse&limit=1');
  await find('ann', 'q=warehouse&has=attachment');
});
