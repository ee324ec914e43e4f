import { describe, expect, test } from 'vitest';
import { findForm, foreignScripts, type PageResponse } from '../../../clients/form-browser.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { updateAgentColumn, useContacts } from '../../../clients/contacts.ts';
import {
  applyStoredDecisions,
  findFieldError,
  readFormFields,
  fillForm,
  signInPerson,
  signInWithAgent,
} from '../signed-in-person.ts';

const service = useSharedService();
const trust = useContacts(service);

const contactsOf = ({ id }: Pick<TestAgent, 'id'>, below = '') => `/console/agents/${id}/contacts${below}`;

/** The form of the row whose button has this text. */
function rowForm(page: PageResponse, action: string, words: string) {
  const form = page.forms.find(
    (each) => each.action === action && each.buttons.some(({ text }) => text.includes(words)),
  );
  if (!form) throw new Error(`${page.url} has no button with ${words}`);
  return form;
}

test('the other agents of its owner are contacts, marked as such, and can be favorites', async () => {
  const ada = await signInWithAgent(service);
  const other = await ada.agent('other');
  const page = await ada.go(contactsOf(ada.mine));
  expect(page.visibleText).toMatch(new RegExp(`Same owner.*@${other.handle}`));
  const marked = await ada.send(rowForm(page, contactsOf(ada.mine, '/favorite'), other.handle));
  expect(marked.visibleText).toMatch(/Added to favorites.*Same owner Favorite/);
});

describe('requests to an agent', () => {
  test('are approved or rejected by its owner; a repeated form changes nothing', async () => {
    const ada = await signInWithAgent(service);
    const [friend, pest] = [await service.agent(), await service.agent()];
    await trust.request(friend, ada.mine.handle, 'Hello, it is me');
    await trust.request(pest, ada.mine.handle);
    const home = await ada.go('/console');
    expect(home.visibleText.match(/Contact request @/g)).toHaveLength(2);
    const page = await ada.go(contactsOf(ada.mine));
    expect(page.visibleText).toMatch(/Received requests.*Hello, it is me/);
    const decide = contactsOf(ada.mine, '/requests/decide');
    const [yes, no] = [rowForm(page, decide, friend.handle), rowForm(page, decide, pest.handle)];
    const press = async (form: typeof yes, button: string, done: string) => {
      const undo = 'Your answer takes effect after five seconds. Until then you can undo it.';
      expect((await ada.send(form, { button })).visibleText).toContain(undo);
      expect((await ada.send(form, { button })).visibleText).toContain(undo);
      await applyStoredDecisions(service);
      const late = await ada.send(form, { button });
      expect(late.visibleText).toContain(done);
      expect(late.visibleText).not.toContain(undo);
    };
    await press(yes, 'approve', 'Request approved.');
    expect(await trust.areContacts(ada.mine, friend)).toBe(true);
    await press(no, 'reject', 'Request rejected.');
    expect(await trust.areContacts(ada.mine, pest)).toBe(false);
    const late = await ada.send(no, { button: 'approve' });
    expect([late.status, late.visibleText]).toEqual([
      200,
      expect.stringContaining('You have no such contact request.'),
    ]);
  });

  test('are paged', async () => {
    const ada = await signInWithAgent(service);
    const askers = await Promise.all(Array.from({ length: 21 }, () => service.agent()));
    for (const asker of askers) await trust.request(asker, ada.mine.handle);
    const first = await ada.go(contactsOf(ada.mine));
    const next = first.next ?? '';
    const second = await ada.go(next);
    const shown = [first, second].map(
      (page) => page.forms.filter(({ action }) => action.endsWith('/decide')).length,
    );
    expect(shown).toEqual([20, 1]);
    expect(second.visibleText).not.toContain('Send contact request');
    const elsewhere = await ada.go(`${contactsOf(ada.mine)}?contacts=${next.split('=')[1] ?? ''}`);
    expect(elsewhere.status).toBe(400);
  });

  test('stay pending while the agent is paused, and can be rejected', async () => {
    const ada = await signInWithAgent(service);
    const friend = await service.agent();
    await trust.request(friend, ada.mine.handle);
    const before = await ada.go(contactsOf(ada.mine));
    await updateAgentColumn(service, ada.mine, 'paused', true);
    const decide = contactsOf(ada.mine, '/requests/decide');
    const refused = await ada.send(rowForm(before, decide, friend.handle), { button: 'approve' });
    expect(refused.visibleText).toContain('This agent is paused. Resume it in its settings first.');
    expect(findForm(refused, decide).buttons.map(({ value }) => value)).toEqual(['reject']);
    expect(await trust.areContacts(ada.mine, friend)).toBe(false);
    const rejected = await ada.send(findForm(refused, decide), { button: 'reject' });
    expect(rejected.visibleText).toMatch(/Rejected ?Undo/);
  });

  test('of another agent are not accessible', async () => {
    const [ada, eve] = [await signInWithAgent(service), await signInWithAgent(service)];
    const friend = await service.agent();
    const requested = await trust.request(friend, ada.mine.handle);
    const home = await eve.go('/console');
    const fields = { request_id: requested.body.request_id as string };
    for (const decision of ['approve', 'reject']) {
      const answer = await eve.send(
        fillForm(home, contactsOf(eve.mine, '/requests/decide'), { ...fields, decision }),
      );
      expect(answer.visibleText).toContain('You have no such contact request.');
    }
    expect((await trust.requests(ada.mine)).body.requests).toHaveLength(1);
  });
});

describe('requesting a contact', () => {
  test('shows the pending requests, and a repeated request is the same request', async () => {
    const ada = await signInWithAgent(service);
    const other = await service.agent();
    const address = contactsOf(ada.mine, '/new');
    for (let time = 0; time < 2; time += 1) {
      const page = await ada.fill(address, { fields: { handle: ` @${other.handle} `, message: 'Hello' } });
      expect(page.visibleText).toContain(`Sent a contact request to @${other.handle}`);
      expect(page.visibleText).toMatch(/Sent requests.*Hello.*Pending/);
    }
    expect((await trust.requests(other)).body.requests).toHaveLength(1);
  });

  test('is withdrawn once', async () => {
    const ada = await signInWithAgent(service);
    const other = await service.agent();
    await trust.request(ada.mine, other.handle, 'Hello');
    const withdraw = contactsOf(ada.mine, '/requests/withdraw');
    const form = rowForm(await ada.go(contactsOf(ada.mine)), withdraw, `Withdraw @${other.handle}`);
    const page = await ada.send(form);
    expect(page.visibleText).toContain('Request withdrawn.');
    expect(page.visibleText).not.toContain('Sent requests');
    expect((await trust.requests(other)).body.requests).toEqual([]);
    expect((await ada.send(form)).visibleText).toContain('You have no such contact request.');
    const eve = await signInPerson(service);
    expect((await eve.send(fillForm(await eve.go('/console'), withdraw, {}))).status).toBe(404);
  });

  test('creates a contact immediately between agents of one person', async () => {
    const ada = await signInWithAgent(service);
    const second = await ada.agent('second');
    const address = contactsOf(ada.mine, '/new');
    const page = await ada.fill(address, { fields: { handle: second.handle } });
    expect(page.visibleText).toContain(`@${second.handle} is now a contact`);
  });

  test.each([
    ['no handle', 'nonsense', 400, /A handle has the form/],
    ['an unknown agent', 'unknown.agent', 400, /No such agent/],
    ['itself', 'self', 400, /must not be your own handle/],
    ['one that takes no requests', 'strict', 403, /accepts only/],
    ['one that is paused', 'paused', 400, /is paused by its owner/],
  ])('of %s is refused at the field, with what was typed', async (_what, target, status, message) => {
    const ada = await signInWithAgent(service);
    const strict = await service.agent({ inbound_policy: 'allowlist' });
    const paused = await service.agent();
    await updateAgentColumn(service, paused, 'paused', true);
    const handles: Record<string, string> = {
      self: ada.mine.handle,
      strict: strict.handle,
      paused: paused.handle,
    };
    const handle = handles[target] ?? target;
    const address = contactsOf(ada.mine, '/new');
    const page = await ada.fill(address, { fields: { handle, message: 'Kept' } });
    expect([page.status, findFieldError(page, 'handle')]).toEqual([status, expect.stringMatching(message)]);
    expect(readFormFields(page, address)).toMatchObject({ handle, message: 'Kept' });
  });
});

describe('contacts', () => {
  test('can be favorites, and are removed after a confirmation', async () => {
    const ada = await signInWithAgent(service);
    const friend = await service.agent();
    await trust.befriend(friend, ada.mine);
    const favorite = contactsOf(ada.mine, '/favorite');
    const page = await ada.go(contactsOf(ada.mine));
    const marked = await ada.send(rowForm(page, favorite, friend.handle));
    expect(marked.visibleText).toContain('Added to favorites');
    expect((await trust.contacts(ada.mine)).body.contacts[0].favorite).toBe(true);
    await ada.send(rowForm(page, favorite, friend.handle));
    expect((await trust.contacts(ada.mine)).body.contacts[0].favorite).toBe(true);
    await ada.send(rowForm(marked, favorite, friend.handle));
    expect((await trust.contacts(ada.mine)).body.contacts[0].favorite).toBe(false);

    const remove = contactsOf(ada.mine, `/${friend.id}/remove`);
    const question = await ada.go(remove);
    expect(question.visibleText).toMatch(/Remove agent\?.*Both are notified/);
    expect(await trust.areContacts(ada.mine, friend)).toBe(true);
    const removed = await ada.send(findForm(question, remove));
    expect(removed.visibleText).toContain('Contact removed');
    expect(await trust.areContacts(ada.mine, friend)).toBe(false);
    expect((await ada.send(findForm(question, remove))).visibleText).toContain(
      'This agent is not one of your contacts.',
    );
  });

  test('a hidden agent gets the same response as a missing one', async () => {
    const ada = await signInWithAgent(service);
    const hidden = await service.agent({ visibility: 'private' });
    const answers = await Promise.all(
      [hidden.id, 'agt_00000000000000000000000000'].map(async (id) => {
        const page = await ada.go(contactsOf(ada.mine, `/${id}/remove`));
        return [page.status, page.visibleText.replace(/Request .*/, '')];
      }),
    );
    expect(answers[0]).toEqual(answers[1]);
    expect(answers[0]?.[0]).toBe(404);
  });
});

test('names and messages from others are escaped', async () => {
  const ada = await signInWithAgent(service);
  const hostile = `</blockquote><script>alert(1)</script>\u202e"'`;
  const message = hostile.replace('\u202e', '');
  const asker = await service.agent();
  await service.sql('update agents set display_name = $2 where id = $1', [asker.id, hostile]);
  await trust.request(asker, ada.mine.handle, hostile);
  const page = await ada.go(contactsOf(ada.mine));
  expect([page.visibleText.split(hostile), page.visibleText.split(message)]).toEqual([
    [expect.any(String), expect.any(String)],
    [expect.any(String), expect.any(String)],
  ]);
  expect(foreignScripts(page)).toEqual([]);
  await ada.send(findForm(page, contactsOf(ada.mine, '/requests/decide')), { button: 'approve' });
  for (const address of [contactsOf(ada.mine), contactsOf(ada.mine, `/${asker.id}/remove`)]) {
    const shown = await ada.go(address);
    expect([shown.visibleText.includes(hostile), foreignScripts(shown)]).toEqual([true, []]);
  }
});
