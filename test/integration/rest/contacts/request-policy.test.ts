import { outcomeOf } from '../../../clients/rest.ts';
import { expect, test } from 'vitest';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import {
  contactAdded,
  createOrganizationAgent,
  updateAgentColumn,
  createRelatedAgent,
  useContacts,
} from '../../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

const pair = (): Promise<[TestAgent, TestAgent]> => Promise.all([service.agent(), service.agent()]);

test('agents of one person are contacts, those of one organization become contacts by a request, and those of two people need an approval', async () => {
  const ann = await service.agent();
  const clerk = await createOrganizationAgent(service);
  for (const one of [ann, clerk]) {
    const other = await createRelatedAgent(service, one, {
      visibility: 'private',
      inbound_policy: 'trusted_only',
    });
    const readEvents = await trust.newsOf(one, other);
    const answer = await trust.request(one, other.handle, 'hello');
    expect([answer.status, answer.body]).toMatchObject([201, { status: 'approved', message: 'hello' }]);
    expect(await trust.areContacts(one, other)).toBe(true);
    const added = one === ann ? [[], []] : [[contactAdded(other)], [contactAdded(one)]];
    expect(await readEvents()).toEqual(added);
    expect((await trust.requests(other)).body).toEqual({ requests: [] });
  }
  expect((await trust.request(ann, clerk.handle)).body.status).toBe('pending');
});

test('the inbound policy decides which agents may request contact', async () => {
  const expected = {
    open: '201',
    contacts_only: '201',
    trusted_only: '403 NOT_TRUSTED',
    allowlist: '403 NOT_ALLOWED',
  } as const;
  for (const [policy, answer] of Object.entries(expected)) {
    const inbound_policy = policy as keyof typeof expected;
    const [ann, bob] = await Promise.all([service.agent(), service.agent({ inbound_policy })]);
    expect(outcomeOf(await trust.request(ann, bob.handle)), policy).toBe(answer);
    expect((await trust.requests(bob)).body.requests).toHaveLength(answer === '201' ? 1 : 0);
    if (policy !== 'allowlist') continue;
    await trust.allow(bob, `${ann.handle.split('.')[0]}.*`);
    expect((await trust.request(ann, bob.handle)).body.status).toBe('pending');
  }
});

test('a paused agent neither requests, approves nor gets requests, but can reject', async () => {
  const [ann, bob] = await pair();
  const cleo = await service.agent();
  await trust.request(ann, bob.handle);
  await trust.request(cleo, bob.handle);
  await updateAgentColumn(service, bob, 'paused', true);
  for (const answer of [
    await trust.request(bob, ann.handle),
    await trust.request(await service.agent(), bob.handle),
    await trust.approve(bob, ann.handle),
  ]) {
    expect(outcomeOf(answer)).toBe('503 AGENT_PAUSED');
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/);
  }
  expect((await trust.reject(bob, cleo.handle)).status).toBe(204);
  await updateAgentColumn(service, bob, 'paused', false);
  expect((await trust.approve(bob, ann.handle)).status).toBe(200);
});

test('the caller, a blocked agent and invalid bodies are refused', async () => {
  const [ann, bob] = await pair();
  expect(outcomeOf(await trust.request(ann, ann.handle))).toBe('400 VALIDATION_ERROR');
  expect(outcomeOf(await trust.request(ann, ann.id))).toBe('400 VALIDATION_ERROR');
  await trust.block(ann, bob.handle);
  const blocked = await trust.request(ann, bob.handle);
  expect(outcomeOf(blocked)).toBe('403 BLOCKED');
  expect(blocked.body.error.message).toContain(bob.handle);
  const nul = await trust.request(ann, bob.handle, 'a\0b');
  expect(outcomeOf(nul)).toBe('400 VALIDATION_ERROR');
  for (const handle of ['absent', 'a.b.c', 'creq_1.', 'owner.*']) {
    expect(outcomeOf(await trust.request(ann, handle)), handle).toBe('400 INVALID_HANDLE');
  }
  const maxLength = await trust.request(bob, (await service.agent()).handle, 'é'.repeat(500));
  expect([maxLength.status, maxLength.body.message]).toEqual([201, 'é'.repeat(500)]);
});

test('a request makes a private agent visible, so that it gets a response', async () => {
  const [ann, bob] = await Promise.all([service.agent({ visibility: 'private' }), service.agent()]);
  expect(outcomeOf(await trust.request(bob, ann.handle))).toBe('404 AGENT_NOT_FOUND');
  await trust.request(ann, bob.handle);
  expect((await trust.request(bob, ann.handle)).body.status).toBe('approved');
  expect(await trust.areContacts(ann, bob)).toBe(true);
});

const notFound = '404 REQUEST_NOT_FOUND';

test.each([
  ['its id', (_to: TestAgent, id: string) => id],
  ['the id of the addressee', ({ id }: TestAgent) => id],
  ['the handle of the addressee', ({ handle }: TestAgent) => `@${handle.toUpperCase()}`],
])('a request is withdrawn by %s, without an event, and can be sent again', async (_name, refOf) => {
  const [ann, bob] = await pair();
  const { body } = await trust.request(ann, bob.handle, 'Shall we talk?');
  const readEvents = await trust.newsOf(ann, bob);
  const withdrawn = await trust.withdraw(ann, refOf(bob, body.request_id));
  expect([withdrawn.status, withdrawn.text]).toEqual([204, '']);
  for (const [agent, direction] of [
    [ann, 'outgoing'],
    [bob, 'incoming'],
  ] as const)
    for (const status of ['pending', 'approved', 'rejected'])
      expect((await trust.requests(agent, `?direction=${direction}&status=${status}`)).body).toEqual({
        requests: [],
      });
  for (const answer of [
    await trust.withdraw(ann, body.request_id),
    await trust.approve(bob, body.request_id),
    await trust.reject(bob, ann.handle),
  ])
    expect(outcomeOf(answer)).toBe(notFound);
  expect(await readEvents()).toEqual([[], []]);

  const again = await trust.request(ann, bob.handle);
  expect(again.body).toMatchObject({ status: 'pending', message: null });
  expect(again.body.request_id).not.toBe(body.request_id);
  expect((await readEvents())[1]?.map(([type]) => type)).toEqual(['contact.request']);
});

test('only the sender withdraws a request, and only while it is pending', async () => {
  const [ann, bob] = await pair();
  const { body } = await trust.request(ann, bob.handle);
  const [owner, name] = ann.handle.split('.');
  const long = `/agents/${owner}/${name}/contacts/requests/${body.request_id}`;
  for (const answer of [
    await trust.withdraw(bob, body.request_id),
    await trust.withdraw(bob, ann.handle),
    await trust.withdraw(await service.agent(), body.request_id),
    await trust.withdraw(ann, 'creq_01K9ZX6Q8T1V5X7Y9Z0B2D4E5F'),
    await trust.withdraw(ann, 'creq_nonsense'),
    await trust.withdraw(ann, 'absent.here'),
  ])
    expect(outcomeOf(answer)).toBe(notFound);
  expect(outcomeOf(await trust.withdraw(ann, 'no handle'))).toBe('400 INVALID_HANDLE');
  expect((await trust.requests(bob)).body.requests).toHaveLength(1);
  expect((await trust.call('DELETE', long, ann)).status).toBe(204);

  for (const decide of [trust.approve, trust.reject]) {
    const [cid, dan] = await pair();
    await trust.request(cid, dan.handle);
    await decide(dan, cid.handle);
    expect(outcomeOf(await trust.withdraw(cid, dan.handle))).toBe(notFound);
    expect(await trust.areContacts(cid, dan)).toBe(decide === trust.approve);
  }
});

test('a request is withdrawn or approved, never both', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [ann, bob] = await pair();
    const { body } = await trust.request(ann, bob.handle);
    const answers = await Promise.all([
      trust.withdraw(ann, body.request_id),
      trust.approve(bob, body.request_id),
    ]);
    const [isWithdrawn, isApproved] = answers.map(({ status }) => status < 300);
    expect(isWithdrawn).toBe(!isApproved);
    expect(await trust.areContacts(ann, bob)).toBe(isApproved);
  }
});

test('a request to an agent that blocks the sender is withdrawn like any other, and not announced later', async () => {
  const [ann, bob] = await pair();
  await trust.block(bob, ann.handle);
  const { body } = await trust.request(ann, bob.handle);
  const readEvents = await trust.newsOf(ann, bob);
  expect((await trust.withdraw(ann, body.request_id)).status).toBe(204);
  await trust.unblock(bob, ann.handle);
  expect(await readEvents()).toEqual([[], []]);
});
