import { expect, test } from 'vitest';
import { retire } from '../../../../src/services/agents/retire.ts';
import { decideAsOperator, openApproval } from '../../../../src/services/approvals/approvals.ts';
import { removeFromOrganization } from '../../../../src/services/people/organizations.ts';
import { findForm } from '../../../clients/form-browser.ts';
import { findLiveAddress, openLivePage } from '../../../clients/live-page.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import {
  applyStoredDecisions,
  createOrganizationOf,
  fillForm,
  signInPerson,
  signInWithAgent,
  type SignedInPerson,
} from '../signed-in-person.ts';

const service = useSharedService();

async function ask({ id }: TestAgent, target: string) {
  const question = {
    agent_id: id,
    action: 'request_contact',
    target,
    detail: { message: 'May I?' },
  } as const;
  const approval = await service.write((work) => openApproval(work, question));
  return `/console/approvals/${approval?.id}`;
}

async function createWorld() {
  const [ada, other] = await Promise.all([signInWithAgent(service), service.agent()]);
  return { ada, other, address: await ask(ada.mine, other.handle) };
}

const decide = async (person: SignedInPerson, address: string, button: string) =>
  person.send(findForm(await person.go('/console'), address), { button });

const decideOn = async (person: SignedInPerson, page: string) =>
  person.send(findForm(await person.go(page), page), { button: 'approve' });

const undo = async (person: SignedInPerson, address: string) =>
  person.send(findForm(await person.go('/console'), `${address}/undo`));

const stateOf = async (address: string) => {
  const id = address.split('/').at(-1) ?? '';
  return (await service.core.db.approvals.find(id, Date.now()))?.state;
};

const requestsOf = async ({ token }: TestAgent) =>
  (await service.get({ token }, '/contacts/requests')).body.requests;

test('a decision on the home page can be undone until it takes effect, and the open page follows', async () => {
  const { ada, other, address } = await createWorld();
  const home = await ada.go('/console');
  const live = await openLivePage(service.url, ada, findLiveAddress(home));
  const decided = await ada.send(findForm(home, address), { button: 'approve' });
  expect(decided.url).toMatch(/\/console$/);
  expect(decided.title).toBe('Home · Agent Messaging');
  expect(decided.visibleText).toContain('Until then you can undo it.');
  await expect.poll(live.shown).toMatch(/Approved.*Undo/);
  expect([await stateOf(address), await requestsOf(other)]).toEqual(['pending', []]);

  await ada.send(findForm(decided, `${address}/undo`));
  // Without script, two clicks send the form twice.
  const undone = await ada.send(findForm(decided, `${address}/undo`));
  expect(undone.visibleText).toContain('Undone. Nothing was decided.');
  expect(undone.title).toBe('(1) Home · Agent Messaging');
  await expect.poll(live.shown).toMatch(/value="approve".*value="deny"/);
  await applyStoredDecisions(service);
  expect(await stateOf(address)).toBe('pending');

  await decide(ada, address, 'approve');
  await Promise.all([applyStoredDecisions(service), applyStoredDecisions(service)]);
  expect([await stateOf(address), (await requestsOf(other)).length]).toEqual(['approved', 1]);
  await expect.poll(live.shown).toContain('Nothing needs you.');
  live.close();
  const again = await ada.send(findForm(home, address), { button: 'approve' });
  expect(again.visibleText).toContain('This was approved before. Nothing was changed.');
  expect(again.visibleText).not.toContain('Until then you can undo it');
  const late = await ada.send(fillForm(await ada.go('/console'), `${address}/undo`));
  expect(late.visibleText).toContain('It is too late to undo this');
  expect(await stateOf(address)).toBe('approved');
});

test('the open page of an approval follows its decision until it is carried out', async () => {
  const { ada, other, address } = await createWorld();
  const decided = await decideOn(ada, address);
  expect(decided.visibleText).toMatch(/The decision takes effect within seconds.*Approved.*Undo/);
  const live = await openLivePage(service.url, ada, findLiveAddress(decided));
  await applyStoredDecisions(service);
  await expect.poll(live.shown).toContain('approved it, and it was done.');
  expect(live.shown()).not.toMatch(/Pending|Undo/);
  live.close();
  expect(await requestsOf(other)).toHaveLength(1);
});

test('of two people the first decides, and only that person can undo it', async () => {
  const [ada, bob] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [ada, bob] });
  const address = await ask(
    await service.register({ handle: `${slug}.desk` }),
    (await service.agent()).handle,
  );
  const seen = await bob.go('/console');
  await decide(ada, address, 'deny');
  const late = await bob.send(findForm(seen, address), { button: 'approve' });
  expect(late.visibleText).toContain('A person has just decided this.');
  expect(late.visibleText).toContain('Denied');
  expect(late.forms.map(({ action }) => action)).not.toContain(`${address}/undo`);
  const forced = await bob.send(fillForm(late, `${address}/undo`));
  expect(forced.visibleText).toContain('It is too late to undo this');
  await undo(ada, address);
  await decide(bob, address, 'approve');
  await applyStoredDecisions(service);
  expect(await stateOf(address)).toBe('approved');
});

test('a decision elsewhere takes effect at once, in place of the stored one', async () => {
  const { ada, other, address } = await createWorld();
  await decide(ada, address, 'approve');
  const id = address.split('/').at(-1) ?? '';
  await service.write((work) => decideAsOperator(work, id, 'denied'));
  await applyStoredDecisions(service);
  expect([await stateOf(address), await requestsOf(other)]).toEqual(['denied', []]);
});

test('a decision in time counts, also when the request expires before it takes effect', async () => {
  const { ada, other, address } = await createWorld();
  await decide(ada, address, 'approve');
  await service.sql('update approvals set expires_at = $1 where agent_id = $2', [Date.now(), ada.mine.id]);
  // The next request of the agent marks the expired ones.
  await ask(ada.mine, (await service.agent()).handle);
  await applyStoredDecisions(service);
  expect([await stateOf(address), (await requestsOf(other)).length]).toEqual(['approved', 1]);
});

test('an undone decision does not keep a request from expiring', async () => {
  const { ada, address } = await createWorld();
  await decide(ada, address, 'approve');
  await service.sql('update approvals set expires_at = $1 where agent_id = $2', [Date.now(), ada.mine.id]);
  await undo(ada, address);
  expect(await stateOf(address)).toBe('expired');
});

test('a decision of a person who lost the right to decide is none', async () => {
  const [ada, bob] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [ada, bob] });
  const address = await ask(
    await service.register({ handle: `${slug}.desk` }),
    (await service.agent()).handle,
  );
  await decide(bob, address, 'approve');
  await service.write((work) => removeFromOrganization(work, { slug, username: bob.username }));
  await applyStoredDecisions(service);
  expect((await ada.go(address)).visibleText).toContain('Waiting for a decision.');
  expect(findForm(await ada.go('/console'), address)).toBeDefined();
  for (const path of ['/console', '/console/approvals', address]) {
    const { visibleText } = await ada.go(path);
    expect(visibleText).toContain('lost the right to decide before the decision took effect');
    expect(visibleText).not.toContain(bob.username);
  }
  await decide(ada, address, 'deny');
  expect((await ada.go('/console/approvals')).visibleText).not.toContain('lost the right');
});

test('a call that is refused when it takes effect waits again, with the reason', async () => {
  const { ada, other, address } = await createWorld();
  const live = await openLivePage(service.url, ada, findLiveAddress(await ada.go(address)));
  await decide(ada, address, 'approve');
  await expect.poll(live.shown).toMatch(/The decision takes effect within seconds.*Undo/s);
  await service.write((work) => retire(work, { id: other.id, canonical_handle: other.handle }));
  await applyStoredDecisions(service);
  await expect.poll(live.shown).toMatch(/The action is no longer possible.*value="approve"/s);
  expect(live.shown()).not.toContain('Undo');
  live.close();
  const home = await ada.go('/console');
  expect(home.title).toBe('(1) Home · Agent Messaging');
  expect(home.visibleText).toContain('The action is no longer possible, and nothing was changed');
  expect(findForm(home, address)).toBeDefined();
});
