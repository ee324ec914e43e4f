import { beforeAll, expect, test } from 'vitest';
import { outcomeOf, requestRest } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { newAgentName, createPolicyFixtures, type PolicyFixtures } from './policy-fixtures.ts';

const service = useSharedService();
let agentOf: PolicyFixtures['agentOf'];
let pairOf: PolicyFixtures['pairOf'];
let post: PolicyFixtures['post'];
let relate: PolicyFixtures['relate'];
let threadOf: PolicyFixtures['threadOf'];

beforeAll(async () => {
  ({ agentOf, pairOf, post, relate, threadOf } = createPolicyFixtures(service));
});

test('every caller gets the same error for a paused agent, which can do nothing itself', async () => {
  for (const relation of ['stranger', 'contact', 'same owner', 'blocked by it'] as const) {
    const pair = await pairOf(relation);
    const { viewer, target } = pair;
    const thread = await threadOf(viewer, target.handle);
    const group = await threadOf(viewer, (await service.agent()).handle);
    await relate(pair, relation, 'open', 'public');
    const pause = { token: target.token, body: { paused: true } };
    expect((await requestRest('PATCH', `${service.api}/agents/${target.id}`, pause)).status).toBe(200);
    const towards = [
      post('/threads', viewer, { with_handle: target.handle }),
      post(`/threads/${thread}/messages`, viewer, { content: 'x' }),
      post(`/threads/${group}/members`, viewer, { handle: target.handle }),
      // Contacts need no request.
      ...(relation === 'contact' ? [] : [post('/contacts/requests', viewer, { handle: target.handle })]),
    ];
    const from = [
      post('/threads', target, { with_handle: viewer.handle }),
      post(`/threads/${thread}/messages`, target, { content: 'x' }),
      post(`/threads/${thread}/members`, target, { handle: (await service.agent()).handle }),
      ...(relation === 'contact' ? [] : [post('/contacts/requests', target, { handle: viewer.handle })]),
    ];
    for (const answer of await Promise.all([...towards, ...from])) {
      expect(outcomeOf(answer), `${relation}: ${answer.text}`).toBe('503 AGENT_PAUSED');
      expect(answer.headers.get('retry-after')).toBe('60');
    }
    expect((await service.get(target, '/threads')).status).toBe(200);
  }
});

test('an agent that may not start threads can reply in them', async () => {
  const { viewer, target } = await pairOf('stranger');
  const thread = await threadOf(viewer, target.handle);
  await service.patch(target, `/agents/${target.id}`, { can_initiate_threads: false });
  const refused = await post('/threads', target, { with_handle: viewer.handle });
  expect(outcomeOf(refused)).toBe('403 CANNOT_INITIATE_THREADS');
  expect((await post(`/threads/${thread}/messages`, target, { content: 'x' })).status).toBe(201);
});

test('in a group only a block prevents a message, with the same error as a policy', async () => {
  const [creator, first, second] = await Promise.all([
    agentOf(newAgentName(), 'personal'),
    agentOf(newAgentName(), 'personal'),
    agentOf(newAgentName(), 'personal'),
  ]);
  const created = await post('/threads', creator, { participants: [first.handle, second.handle] });
  const thread: string = created.body.id;
  await service.patch(second, `/agents/${second.id}`, { inbound_policy: 'contacts_only' });
  const send = (agent: TestAgent) => post(`/threads/${thread}/messages`, agent, { content: 'x' });
  expect((await send(first)).status).toBe(201);
  await post('/blocks', second, { handle: first.handle });
  const refused = await send(first);
  expect([refused.status, refused.body.error]).toMatchObject([
    403,
    { code: 'NOT_CONTACTS', message: `${second.handle} accepts only contacts; request contact first.` },
  ]);
  expect((await send(second)).status).toBe(201);
  expect((await send(creator)).status).toBe(201);
  await service.delete(second, `/blocks/${first.handle}`);
  expect((await send(first)).status).toBe(201);
  const listed = await service.get(creator, `/threads/${thread}/messages?order=asc`);
  expect(listed.body.messages.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4]);
});

test('a member that may not write in a thread cannot change its subject, but can close and leave it', async () => {
  const { viewer, target } = await pairOf('stranger');
  const thread = await threadOf(viewer, target.handle);
  const set = ({ id, token }: TestAgent, body: object) => service.patch({ token }, `/agents/${id}`, body);
  const patch = async ({ token }: TestAgent, body: object) => {
    const answer = await service.patch({ token }, `/threads/${thread}`, body);
    return answer.body.error?.code ?? answer.status;
  };
  expect(await patch(viewer, { subject: 'rivets' })).toBe(200);
  await set(target, { inbound_policy: 'contacts_only' });
  expect(await patch(viewer, { subject: 'read this' })).toBe('NOT_CONTACTS');
  expect(await patch(viewer, { subject: 'rivets' })).toBe(200);
  expect(await patch(target, { subject: 'bolts' })).toBe(200);
  await post('/blocks', target, { handle: viewer.handle });
  expect(await patch(viewer, { subject: 'read this', status: 'closed' })).toBe('NOT_CONTACTS');
  expect(await patch(target, { subject: 'read this' })).toBe('BLOCKED');
  await service.delete(target, `/blocks/${viewer.handle}`);
  await set(viewer, { paused: true });
  expect(await patch(viewer, { subject: 'read this' })).toBe('AGENT_PAUSED');
  expect(await patch(viewer, { status: 'closed' })).toBe(200);
  expect((await service.delete(viewer, `/threads/${thread}/members/${viewer.handle}`)).status).toBe(204);
  const read = await service.get(target, `/threads/${thread}`);
  expect([read.body.subject, read.body.status]).toEqual(['bolts', 'closed']);
});

test('the creator of a thread gets replies whatever its policy until it blocks, and a retired agent gets no message', async () => {
  const { viewer, target } = await pairOf('stranger');
  const thread = await threadOf(target, viewer.handle);
  await service.patch(target, `/agents/${target.id}`, { inbound_policy: 'contacts_only' });
  const send = () => post(`/threads/${thread}/messages`, viewer, { content: 'x' });
  expect((await send()).status).toBe(201);
  await post('/blocks', target, { handle: viewer.handle });
  expect((await send()).body.error.code).toBe('NOT_CONTACTS');
  await service.delete(target, `/blocks/${viewer.handle}`);
  expect((await send()).status).toBe(201);
  expect((await service.delete(target, `/agents/${target.id}`)).status).toBe(204);
  expect((await send()).body.error.code).toBe('AGENT_NOT_FOUND');
  const still = await service.get(viewer, `/threads/${thread}`);
  const members: { canonical_handle: string }[] = still.body.members;
  expect(new Set(members.map((member) => member.canonical_handle))).toEqual(
    new Set([target.handle, viewer.handle]),
  );
});
