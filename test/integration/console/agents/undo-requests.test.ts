import { expect, test } from 'vitest';
import { readWaitingItems } from '../../../../src/services/notifications/waiting-items.ts';
import { removeFromOrganization } from '../../../../src/services/people/organizations.ts';
import { updateAgentColumn, useContacts } from '../../../clients/contacts.ts';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
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
const trust = useContacts(service);

/** A request of an agent to an agent of these people, and how they answer it. */
async function requestTo(mine: TestAgent) {
  const friend = await service.agent();
  const readNew = await trust.newsOf(friend);
  const { body } = await trust.request(friend, mine.handle, 'May I?');
  const contacts = `/console/agents/${mine.id}/contacts`;
  const [decide, undo] = [`${contacts}/requests/decide`, `${contacts}/requests/undo`];
  const request_id = body.request_id as string;
  return {
    friend,
    request_id,
    contacts,
    decide,
    undo,
    answer: async (person: SignedInPerson, button: string) =>
      person.send(findForm(await person.go('/console'), decide), { button }),
    undoAs: async (person: SignedInPerson) =>
      person.send(fillForm(await person.go('/console'), undo, { request_id })),
    /** The pending requests of the sender, and its events since the last call. */
    async seenBySender() {
      const sent = await trust.requests(friend, '?direction=outgoing');
      const [events = []] = await readNew();
      return [sent.body.requests.length, events.map(([type]) => type)];
    },
  };
}

async function createWorld() {
  const ada = await signInWithAgent(service);
  return { ada, ...(await requestTo(ada.mine)) };
}

/** An organization of two people with an agent, and a request to it. */
async function createSharedWorld() {
  const [ada, bob] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [ada, bob] });
  const desk = await service.register({
    handle: `${slug}.desk`,
    visibility: 'public',
    inbound_policy: 'open',
  });
  return { ada, bob, slug, ...(await requestTo(desk)) };
}

const buttonsOf = (page: PageResponse, action: string) =>
  page.forms
    .filter((form) => form.action === action)
    .flatMap(({ buttons }) => buttons.map(({ value }) => value));

test('an answer can be undone until it takes effect, the sender learns nothing, and the open page follows', async () => {
  const { ada, friend, contacts, decide, undo, answer, seenBySender } = await createWorld();
  const items = () => service.read((work) => readWaitingItems(work, ada.person.account_id));
  const home = await ada.go('/console');
  expect([home.title, (await items()).length]).toEqual(['(1) Home · Agent Messaging', 1]);
  const live = await openLivePage(service.url, ada, findLiveAddress(home));
  const contactsPage = findLiveAddress(await ada.go(contacts));
  const liveContacts = await openLivePage(service.url, ada, contactsPage);
  const approved = await answer(ada, 'approve');
  expect(approved.url).toMatch(/\/console$/);
  expect(approved.visibleText).toContain('Until then you can undo it.');
  expect([approved.title, await items()]).toEqual(['Home · Agent Messaging', []]);
  await expect.poll(live.shown).toMatch(/Approved.*Undo/);
  await expect.poll(liveContacts.shown).toMatch(/Received requests.*Approved.*Undo/);
  expect(await seenBySender()).toEqual([1, []]);

  // Without script, two clicks send the form twice.
  for (let time = 0; time < 2; time += 1)
    expect((await ada.send(findForm(approved, undo))).visibleText).toContain('Undone. Nothing was decided.');
  await expect.poll(live.shown).toMatch(/value="approve".*value="reject"/);
  await applyStoredDecisions(service);
  expect(await seenBySender()).toEqual([1, []]);

  await answer(ada, 'approve');
  await Promise.all([applyStoredDecisions(service), applyStoredDecisions(service)]);
  expect(await trust.areContacts(ada.mine, friend)).toBe(true);
  expect(await seenBySender()).toEqual([0, ['contact.added']]);
  await expect.poll(live.shown).toContain('Nothing needs you.');
  await expect.poll(liveContacts.shown).toMatch(/^(?!.*Received requests).*Add favorite/);
  for (const stream of [live, liveContacts]) stream.close();
  expect(buttonsOf(await ada.go(contacts), decide)).toEqual([]);
});

test('an answer that has taken effect cannot be undone, and the page says so', async () => {
  const { ada, friend, answer, undoAs, seenBySender } = await createWorld();
  await answer(ada, 'reject');
  await applyStoredDecisions(service);
  expect((await undoAs(ada)).visibleText).toContain('It is too late to undo this');
  expect(await trust.areContacts(ada.mine, friend)).toBe(false);
  expect(await seenBySender()).toEqual([0, []]);
});

test('a sender that withdraws meanwhile ends the request: no contact begins, and there is nothing to undo', async () => {
  const { ada, friend, request_id, answer, undoAs } = await createWorld();
  await answer(ada, 'approve');
  await trust.withdraw(friend, request_id);
  const page = await undoAs(ada);
  expect(page.visibleText).toContain('You have no such contact request.');
  expect(await applyStoredDecisions(service)).toEqual([]);
  expect(await trust.areContacts(ada.mine, friend)).toBe(false);
  expect((await ada.go('/console')).visibleText).toContain('Nothing needs you.');
});

test('an answer through the API takes effect at once, in place of the stored one', async () => {
  const { ada, friend, request_id, answer, undoAs } = await createWorld();
  await answer(ada, 'reject');
  await trust.approve(ada.mine, request_id);
  await applyStoredDecisions(service);
  expect(await trust.areContacts(ada.mine, friend)).toBe(true);
  expect((await undoAs(ada)).visibleText).toContain('It is too late to undo this');
});

test('of two people the first answers, only that person can undo it, and others see nothing of it', async () => {
  const { ada, bob, request_id, contacts, decide, undo, answer, undoAs } = await createSharedWorld();
  const eve = await signInWithAgent(service);
  const seen = await bob.go('/console');
  await answer(ada, 'reject');
  const late = await bob.send(findForm(seen, decide), { button: 'approve' });
  expect(late.visibleText).toContain('A person has just decided this.');
  expect(late.visibleText).toContain('Rejected');
  expect(buttonsOf(await bob.go(contacts), undo)).toEqual([]);
  expect((await undoAs(bob)).visibleText).toContain('It is too late to undo this');
  expect((await undoAs(eve)).status).toBe(404);
  const own = `/console/agents/${eve.mine.id}/contacts/requests/undo`;
  const forced = await eve.send(fillForm(await eve.go('/console'), own, { request_id }));
  expect(forced.visibleText).toContain('You have no such contact request.');
  expect((await undoAs(ada)).visibleText).toContain('Undone. Nothing was decided.');
  expect(buttonsOf(await bob.go('/console'), decide)).toEqual(['approve', 'reject']);
});

test('an answer of a person who lost the right to decide does not take effect', async () => {
  const { ada, bob, slug, friend, contacts, decide, answer } = await createSharedWorld();
  await answer(bob, 'approve');
  await service.write((work) => removeFromOrganization(work, { slug, username: bob.username }));
  await applyStoredDecisions(service);
  for (const path of ['/console', contacts]) {
    const page = await ada.go(path);
    expect(page.visibleText).toContain('lost the right to decide before the decision took effect');
    expect(page.visibleText).not.toContain(bob.username);
    expect(buttonsOf(page, decide)).toEqual(['approve', 'reject']);
  }
  await answer(ada, 'approve');
  await applyStoredDecisions(service);
  expect((await trust.contacts(friend)).body.contacts).toHaveLength(1);
});

test('an agent that is paused meanwhile gets no contact, and the request says why', async () => {
  const { ada, friend, answer, undoAs } = await createWorld();
  await answer(ada, 'approve');
  await updateAgentColumn(service, ada.mine, 'paused', true);
  await applyStoredDecisions(service);
  expect((await undoAs(ada)).visibleText).toContain('Undone. Nothing was decided.');
  expect((await ada.go('/console')).visibleText).toContain(
    'The agent was paused before the decision took effect.',
  );
  expect(await trust.areContacts(ada.mine, friend)).toBe(false);
});

test('a sender who is blocked meanwhile becomes no contact; after the block the request is as before', async () => {
  const { ada, friend, contacts, decide, answer } = await createWorld();
  await answer(ada, 'approve');
  await trust.block(ada.mine, friend.handle);
  expect(await applyStoredDecisions(service)).toEqual([]);
  expect(await trust.areContacts(ada.mine, friend)).toBe(false);
  await trust.unblock(ada.mine, friend.handle);
  const page = await ada.go(contacts);
  expect(buttonsOf(page, decide)).toEqual(['approve', 'reject']);
  expect(page.visibleText).not.toContain('before the decision took effect');
});
