import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

sameAnswers('the paths of me do what those of the collections do', async (world) => {
  await world.agent('ann');
  await world.agent('bob');
  const entries = [world.handle('bob'), 'globex.*'];
  await world.request('ann', 'POST', '/v1/agents/me/allowlist', { body: { entries } });
  await world.request('ann', 'POST', '/v1/agents/me/allowlist', { body: { entries: ['no handle'] } });
  await world.request('ann', 'DELETE', '/v1/agents/me/allowlist/globex.*');
  await world.request('ann', 'DELETE', '/v1/agents/me/allowlist/globex.*');
  await world.request('ann', 'GET', '/v1/agents/me/allowlist');
  const handle = world.handle('bob');
  await world.request('ann', 'POST', '/v1/agents/me/blocks', { body: { handle } });
  await world.request('ann', 'GET', '/v1/agents/me/blocks');
  await world.request('ann', 'DELETE', `/v1/agents/me/blocks/${handle}`);
});

const requests = '/v1/contacts/requests';

async function pair(world: World): Promise<void> {
  await world.agent('ann', { inbound_policy: 'contacts_only' });
  await world.agent('bob', { inbound_policy: 'contacts_only' });
}

sameAnswers('a request is approved, and both agents are contacts', async (world) => {
  await pair(world);
  await world.request('ann', 'POST', requests, {
    body: { handle: `@${world.handle('bob')}`, message: 'Hello' },
  });
  await world.request('ann', 'POST', requests, { body: { handle: world.handle('bob') } });
  await world.request('bob', 'GET', requests);
  await world.request('ann', 'GET', `${requests}?direction=outgoing`);
  await world.request('bob', 'POST', `${requests}/${world.handle('ann')}/approve`);
  await world.request('bob', 'POST', `${requests}/${world.handle('ann')}/approve`);
  await world.request('bob', 'POST', `${requests}/${world.handle('ann')}/reject`);
  await world.request('ann', 'GET', `${requests}?direction=outgoing&status=approved`);
  await world.request('ann', 'POST', requests, { body: { handle: world.handle('bob') } });
  await world.request('bob', 'POST', requests, { body: { handle: world.handle('ann') } });
  await world.request('ann', 'GET', '/v1/contacts');
  const bob = encodeURIComponent(world.handle('bob'));
  await world.request('ann', 'PUT', `/v1/contacts/${bob}/favorite`);
  await world.request('ann', 'GET', '/v1/contacts');
  await world.request('ann', 'DELETE', `/v1/contacts/${bob}/favorite`);
  await world.request('ann', 'DELETE', `/v1/contacts/${bob}`);
  await world.request('ann', 'DELETE', `/v1/contacts/${bob}`);
  await world.request('bob', 'GET', '/v1/contacts');
  await world.events('ann', 4);
  await world.events('bob', 3);
});

sameAnswers(
  'a request is rejected; crossing requests and agents of one owner need no decision',
  async (world) => {
    await pair(world);
    await world.agent('kin', { owner: 'ann', inbound_policy: 'contacts_only' });
    await world.request('ann', 'POST', requests, { body: { handle: world.handle('bob') } });
    await world.request('bob', 'POST', `${requests}/creq_01ARZ3NDEKTSV4RRFFQ69G5FAV/approve`);
    await world.request('bob', 'POST', `${requests}/${world.handle('ann')}/reject`);
    await world.request('bob', 'POST', `${requests}/${world.handle('ann')}/reject`);
    await world.request('bob', 'POST', `${requests}/${world.handle('ann')}/approve`);
    await world.request('ann', 'GET', `${requests}?direction=outgoing&status=rejected`);
    await world.request('ann', 'POST', requests, { body: { handle: world.handle('bob') } });
    await world.request('bob', 'POST', requests, { body: { handle: world.handle('ann') } });
    await world.request('ann', 'POST', requests, { body: { handle: world.handle('kin') } });
    await world.events('ann', 2);
    await world.events('bob', 3);
    await world.events('kin', 0);
  },
);

sameAnswers('a blocked agent is refused like a stranger', async (world) => {
  await pair(world);
  await world.agent('cleo');
  const blocked = { body: { handle: world.handle('ann') } };
  await world.request('cleo', 'POST', '/v1/blocks', blocked);
  await world.request('cleo', 'POST', '/v1/blocks', blocked);
  await world.request('cleo', 'GET', '/v1/blocks');
  const toCleo = { body: { with_handle: world.handle('cleo') } };
  await world.request('ann', 'POST', '/v1/threads', toCleo);
  await world.request('cleo', 'POST', '/v1/threads', { body: { with_handle: world.handle('ann') } });
  await world.request('ann', 'POST', requests, { body: { handle: world.handle('cleo') } });
  await world.request('cleo', 'GET', requests);
  await world.events('cleo', 0);
  await world.request('cleo', 'DELETE', `/v1/blocks/${world.handle('ann')}`);
  await world.request('cleo', 'DELETE', `/v1/blocks/${world.handle('ann')}`);
  await world.request('cleo', 'GET', requests);
  await world.request('ann', 'POST', '/v1/threads', toCleo);
  await world.events('cleo', 2);
});

sameAnswers('allowlists and inbound policies decide who can write', async (world) => {
  await world.agent('ann');
  await world.agent('kin', { owner: 'ann' });
  for (const policy of ['contacts_only', 'trusted_only', 'allowlist', 'open'] as const) {
    const name = policy.replace('_', '-');
    await world.agent(name, { inbound_policy: policy });
    await world.request('ann', 'POST', '/v1/threads', { body: { with_handle: world.handle(name) } });
    await world.request('ann', 'POST', requests, { body: { handle: world.handle(name) } });
  }
  await world.request('allowlist', 'POST', '/v1/allowlist', { body: { entry: 'no entry' } });
  const [owner = ''] = world.handle('ann').split('.');
  await world.request('allowlist', 'POST', '/v1/allowlist', { body: { entry: `${owner}.*` } });
  await world.request('allowlist', 'GET', '/v1/allowlist');
  await world.request('ann', 'POST', '/v1/threads', { body: { with_handle: world.handle('allowlist') } });
  await world.request('allowlist', 'DELETE', `/v1/allowlist/${owner}.*`);
  await world.request('allowlist', 'DELETE', `/v1/allowlist/${owner}.*`);
  await world.request('ann', 'POST', '/v1/threads', { body: { with_handle: world.handle('allowlist') } });
  await world.request('ann', 'POST', '/v1/threads', { body: { with_handle: world.handle('kin') } });
});
