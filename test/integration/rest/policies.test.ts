import { afterAll, beforeAll, expect, test } from 'vitest';
import { rest } from '../../support/rest-client.ts';
import { startService, type TestAgent, type TestService } from '../../support/service.ts';
import { freshName, policyWorlds, type PolicyWorlds } from './policy-world.ts';

let service: TestService;
let agentOf: PolicyWorlds['agentOf'];
let pairOf: PolicyWorlds['pairOf'];
let post: PolicyWorlds['post'];
let relate: PolicyWorlds['relate'];
let threadOf: PolicyWorlds['threadOf'];

beforeAll(async () => {
  service = await startService({ worker: false });
  ({ agentOf, pairOf, post, relate, threadOf } = policyWorlds(service));
});
afterAll(() => service.stop());

test('a paused agent is told to everybody alike, and does nothing itself', async () => {
  for (const relation of ['stranger', 'contact', 'same owner', 'blocked by it'] as const) {
    const world = await pairOf(relation);
    const { viewer, other } = world;
    const thread = await threadOf(viewer, other.handle);
    const group = await threadOf(viewer, (await service.agent()).handle);
    await relate(world, relation, 'open', 'public');
    const pause = { token: other.token, body: { paused: true } };
    expect((await rest('PATCH', `${service.api}/agents/${other.id}`, pause)).status).toBe(200);
    const towards = [
      post('/threads', viewer, { with_handle: other.handle }),
      post(`/threads/${thread}/messages`, viewer, { content: 'x' }),
      post(`/threads/${group}/members`, viewer, { handle: other.handle }),
      // Contacts are contacts already; there is nothing to ask.
      ...(relation === 'contact' ? [] : [post('/contacts/requests', viewer, { handle: other.handle })]),
    ];
    const from = [
      post('/threads', other, { with_handle: viewer.handle }),
      post(`/threads/${thread}/messages`, other, { content: 'x' }),
      post(`/threads/${thread}/members`, other, { handle: (await service.agent()).handle }),
      ...(relation === 'contact' ? [] : [post('/contacts/requests', other, { handle: viewer.handle })]),
    ];
    for (const answer of await Promise.all([...towards, ...from])) {
      expect([answer.status, answer.body.error?.code], `${relation}: ${answer.text}`).toEqual([
        503,
        'AGENT_PAUSED',
      ]);
      expect(answer.headers.get('retry-after')).toBe('60');
    }
    expect((await rest('GET', `${service.api}/threads`, { token: other.token })).status).toBe(200);
  }
});

test('an agent that may not start threads can answer in them', async () => {
  const { viewer, other } = await pairOf('stranger');
  const thread = await threadOf(viewer, other.handle);
  const body = { can_initiate_threads: false };
  await rest('PATCH', `${service.api}/agents/${other.id}`, { token: other.token, body });
  const refused = await post('/threads', other, { with_handle: viewer.handle });
  expect([refused.status, refused.body.error.code]).toEqual([403, 'CANNOT_INITIATE_THREADS']);
  expect((await post(`/threads/${thread}/messages`, other, { content: 'x' })).status).toBe(201);
});

test('in a group only a block stands against a message, and it speaks in the words of the policy', async () => {
  const [creator, first, second] = await Promise.all([
    agentOf(freshName(), 'personal'),
    agentOf(freshName(), 'personal'),
    agentOf(freshName(), 'personal'),
  ]);
  const made = await post('/threads', creator, { participants: [first.handle, second.handle] });
  const thread: string = made.body.id;
  const body = { inbound_policy: 'contacts_only' };
  await rest('PATCH', `${service.api}/agents/${second.id}`, { token: second.token, body });
  const send = (agent: TestAgent) => post(`/threads/${thread}/messages`, agent, { content: 'x' });
  expect((await send(first)).status).toBe(201);
  await post('/blocks', second, { handle: first.handle });
  const refused = await send(first);
  expect([refused.status, refused.body.error]).toMatchObject([
    403,
    { code: 'NOT_CONTACTS', message: `${second.handle} accepts only its contacts; request contact first.` },
  ]);
  expect((await send(second)).status).toBe(201);
  expect((await send(creator)).status).toBe(201);
  await rest('DELETE', `${service.api}/blocks/${first.handle}`, { token: second.token });
  expect((await send(first)).status).toBe(201);
  const listed = await rest('GET', `${service.api}/threads/${thread}/messages?order=asc`, {
    token: creator.token,
  });
  expect(listed.body.messages.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4]);
});

test('who may not write in a thread does not change its subject either, but closes and leaves it', async () => {
  const { viewer, other } = await pairOf('stranger');
  const thread = await threadOf(viewer, other.handle);
  const set = ({ id, token }: TestAgent, body: object) =>
    rest('PATCH', `${service.api}/agents/${id}`, { token, body });
  const patch = async ({ token }: TestAgent, body: object) => {
    const answer = await rest('PATCH', `${service.api}/threads/${thread}`, { token, body });
    return answer.body.error?.code ?? answer.status;
  };
  expect(await patch(viewer, { subject: 'rivets' })).toBe(200);
  await set(other, { inbound_policy: 'contacts_only' });
  expect(await patch(viewer, { subject: 'read this' })).toBe('NOT_CONTACTS');
  expect(await patch(viewer, { subject: 'rivets' })).toBe(200);
  expect(await patch(other, { subject: 'bolts' })).toBe(200);
  await post('/blocks', other, { handle: viewer.handle });
  expect(await patch(viewer, { subject: 'read this', status: 'closed' })).toBe('NOT_CONTACTS');
  expect(await patch(other, { subject: 'read this' })).toBe('BLOCKED');
  await rest('DELETE', `${service.api}/blocks/${viewer.handle}`, { token: other.token });
  await set(viewer, { paused: true });
  expect(await patch(viewer, { subject: 'read this' })).toBe('AGENT_PAUSED');
  expect(await patch(viewer, { status: 'closed' })).toBe(200);
  const leave = `${service.api}/threads/${thread}/members/${viewer.handle}`;
  expect((await rest('DELETE', leave, { token: viewer.token })).status).toBe(204);
  const read = await rest('GET', `${service.api}/threads/${thread}`, { token: other.token });
  expect([read.body.subject, read.body.status]).toEqual(['bolts', 'closed']);
});

test('who opened a thread is answered whatever its policy, until it blocks; and nobody writes to a retired agent', async () => {
  const { viewer, other } = await pairOf('stranger');
  const thread = await threadOf(other, viewer.handle);
  const body = { inbound_policy: 'contacts_only' };
  await rest('PATCH', `${service.api}/agents/${other.id}`, { token: other.token, body });
  const send = () => post(`/threads/${thread}/messages`, viewer, { content: 'x' });
  expect((await send()).status).toBe(201);
  await post('/blocks', other, { handle: viewer.handle });
  expect((await send()).body.error.code).toBe('NOT_CONTACTS');
  await rest('DELETE', `${service.api}/blocks/${viewer.handle}`, { token: other.token });
  expect((await send()).status).toBe(201);
  expect((await rest('DELETE', `${service.api}/agents/${other.id}`, { token: other.token })).status).toBe(
    204,
  );
  expect((await send()).body.error.code).toBe('AGENT_NOT_FOUND');
  const still = await rest('GET', `${service.api}/threads/${thread}`, { token: viewer.token });
  const members: { canonical_handle: string }[] = still.body.members;
  expect(new Set(members.map((member) => member.canonical_handle))).toEqual(
    new Set([other.handle, viewer.handle]),
  );
});
