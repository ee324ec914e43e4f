import { outcomeOf } from '../../../clients/rest.ts';
import { expect, test } from 'vitest';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { useContacts } from '../../../clients/contacts.ts';

const service = useSharedService();
const trust = useContacts(service);

const pair = (): Promise<[TestAgent, TestAgent]> => Promise.all([service.agent(), service.agent()]);
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
