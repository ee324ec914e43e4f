import { sameAnswers, startBothServices } from './compare.ts';
import type { World } from './world.ts';

startBothServices();

const request = { action: 'request_contact', message: 'May I?' } as const;

/** An agent that asks, another one of its owner that decides, and an agent of another owner. */
async function startAsking(world: World) {
  await world.agent('asker');
  const scopes = ['contacts:read', 'contacts:write', 'approvals:write'] as const;
  await world.agent('decider', { owner: 'asker', scopes });
  await world.agent('other', { scopes });
  return {
    list: (query = '') => world.request('decider', 'GET', `/v1/approvals${query}`),
    decide: (id: string, decision: 'approve' | 'deny', by = 'decider') =>
      world.request(by, 'POST', `/v1/approvals/${id}/${decision}`),
  };
}

sameAnswers('another agent of the owner approves, the call runs, and the agent is told', async (world) => {
  const { list, decide } = await startAsking(world);
  const id = await world.requestApproval('asker', 'other', request);
  await list();
  for (const decision of ['approve', 'approve', 'deny'] as const) await decide(id, decision);
  await list('?state=approved');
  await world.events('asker', 2);
  await world.request('other', 'POST', `/v1/contacts/requests/${world.handle('asker')}/approve`);
  const removal = await world.requestApproval('asker', 'other', { action: 'remove_contact' });
  await decide(removal, 'approve');
  await world.events('asker', 3);
  await world.events('other', 3);
  await list();
});

sameAnswers('a denied call does not run, and stays denied', async (world) => {
  const { list, decide } = await startAsking(world);
  const id = await world.requestApproval('asker', 'other', request);
  await decide(id, 'deny');
  await decide(id, 'deny');
  await decide(id, 'approve');
  await world.events('asker', 2);
  await world.events('other', 0);
  const again = await world.requestApproval('asker', 'other', request);
  const next = await world.requestApproval('asker', 'other', { ...request, message: 'Please?' });
  world.note([again === id, next === id]);
  await list('?state=denied');
  await list('?limit=1');
});

sameAnswers('an approved call that is no longer possible changes nothing', async (world) => {
  const { list, decide } = await startAsking(world);
  const id = await world.requestApproval('asker', 'other', { action: 'remove_contact' });
  await decide(id, 'approve');
  await list();
  await world.events('asker', 1);
});

sameAnswers('only other agents of the owner see and decide approvals', async (world) => {
  const { decide } = await startAsking(world);
  const id = await world.requestApproval('asker', 'other', request);
  await decide(id, 'approve', 'other');
  await decide(id, 'approve', 'asker');
  await decide('nonsense', 'deny');
  await world.request('other', 'GET', '/v1/approvals');
  const token = await world.token('asker', ['contacts:write', 'approvals:write']);
  await world.request(null, 'GET', '/v1/approvals', { token });
  await world.request(null, 'POST', `/v1/approvals/${id}/approve`, { token });
  await world.request('decider', 'GET', '/v1/approvals?state=maybe');
  await world.request('decider', 'GET', '/v1/approvals?cursor=x');
  await world.request('decider', 'GET', '/v1/approvals?limit=0');
});
