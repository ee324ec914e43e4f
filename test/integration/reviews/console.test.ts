import { expect, test } from 'vitest';
import { retire } from '../../../src/services/agents/retire.ts';
import { findForm, type PageResponse } from '../../clients/form-browser.ts';
import { useSharedService } from '../../support/service.ts';
import { applyStoredDecisions, createOrganizationOf, signInPerson } from '../console/signed-in-person.ts';
import { idOf, reviewsOf } from './setup.ts';

const service = useSharedService();
const { setPolicy, send, contents } = reviewsOf(service);

/** A review that two admins can decide, and how they send its form. */
async function createWorld() {
  const [ada, bob] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [ada, bob] });
  const mine = await service.register({ handle: `${slug}.desk`, inbound_policy: 'open' });
  const stranger = await service.agent();
  await setPolicy(mine, 'review_all');
  const thread = await service.thread(stranger, mine);
  const address = `/console/approvals/${idOf(await send(mine, thread, { content: 'Draft' }))}`;
  const decide = (page: PageResponse, button: string, fields: Record<string, string> = {}) => {
    const form = page.forms.find(({ buttons }) => buttons.some(({ value }) => value === button));
    return ada.send(form ?? expect.fail(), { button, fields });
  };
  return { ada, bob, mine, stranger, thread, address, decide };
}

test('a second press counts only if it is the same decision, and the page says which text stands', async () => {
  const { ada, mine, stranger, thread, address, decide } = await createWorld();
  const form = await ada.go(address);
  for (let time = 0; time < 2; time += 1) {
    const stored = await decide(form, 'approve', { text_0: 'First' });
    expect(stored.visibleText).toContain('Until then you can undo it.');
    expect(stored.visibleText).toMatch(/takes effect within seconds.*First.*Approved.*Undo/);
  }
  for (const [button, text_0] of [
    ['approve', 'Second'],
    ['approve', 'Draft'],
    ['trust', 'First'],
  ] as const) {
    const refused = await decide(form, button, { text_0 });
    expect(refused.visibleText).toContain('This one was not stored.');
    expect(refused.visibleText).not.toContain('Until then you can undo it.');
    expect(refused.visibleText).toMatch(/First.*Approved.*Undo/);
  }
  await applyStoredDecisions(service);
  expect(await contents(stranger, thread)).toEqual(['First']);
  const late = await decide(form, 'approve', { text_0: 'Second' });
  expect(late.visibleText).toContain('This was approved before. Nothing was changed.');
  expect((await send(mine, thread)).status).toBe(202);
});

test('a decision that could not be carried out keeps the text of its person, for that person only', async () => {
  const { ada, bob, stranger, address, decide } = await createWorld();
  await decide(await ada.go(address), 'approve', { text_0: 'Edited with care' });
  await service.write((work) => retire(work, { id: stranger.id, canonical_handle: stranger.handle }));
  await applyStoredDecisions(service);
  const failed = await ada.go(address);
  expect(failed.visibleText).toContain('The action is no longer possible');
  expect(failed.visibleText).toContain('Edited with care');
  expect(failed.visibleText).not.toContain('Draft');
  const others = await bob.go(address);
  expect(others.visibleText).toContain('The action is no longer possible');
  expect(others.visibleText).toContain('Draft');
  expect(others.text).not.toContain('Edited with care');
});

test('a text that is too long to be sent comes back in the form, and can be made shorter', async () => {
  const { ada, stranger, thread, address, decide } = await createWorld();
  await decide(await ada.go(address), 'approve', { text_0: 'long '.repeat(25_000) });
  await applyStoredDecisions(service);
  const failed = await ada.go(address);
  expect(failed.visibleText).toContain('The action is no longer possible');
  await decide(failed, 'approve', { text_0: 'Short' });
  await applyStoredDecisions(service);
  expect(await contents(stranger, thread)).toEqual(['Short']);
});

test('a review of a paused agent can be denied, but not approved', async () => {
  const { ada, mine, thread, stranger, address, decide } = await createWorld();
  const form = await ada.go(address);
  const settings = `/console/agents/${mine.id}/settings`;
  await ada.send(findForm(await ada.go(settings), `${settings}/pause`));
  const refused = await decide(form, 'approve', { text_0: 'Final' });
  expect(refused.visibleText).toContain('This agent is paused. Resume it in its settings first.');
  expect(refused.visibleText).not.toContain('Undo');
  expect((await decide(form, 'deny')).visibleText).toContain('Until then you can undo it.');
  await applyStoredDecisions(service);
  expect((await ada.go(address)).visibleText).toContain('denied it.');
  expect(await contents(stranger, thread)).toEqual([]);
});
