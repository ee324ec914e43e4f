import { textContent } from 'domutils';
import { describe, expect, test } from 'vitest';
import { foreignScripts } from '../../../clients/form-browser.ts';
import { inboxOf } from '../../inbox/setup.ts';
import { useSharedService } from '../../../support/service.ts';
import { startThread } from '../conversations/conversation-fixtures.ts';
import {
  findFieldError,
  readFormFields,
  fillForm,
  newUsername,
  createOrganizationOf,
  signInPerson,
} from '../signed-in-person.ts';

const service = useSharedService();

const create = '/console/agents/new';
const recordOf = async (handle: string) =>
  (await service.get({ token: await service.token(handle) }, '/agents/me')).body;

test('a person creates a first agent from an empty list', async () => {
  const ada = await signInPerson(service);
  const empty = await ada.go('/console/agents');
  expect(empty.visibleText).toContain('No agents yet');
  const made = await ada.fill(create, {
    fields: { name: 'Writer', display_name: 'The writer', description: 'Writes.', inbound_policy: 'open' },
    button: 'create',
  });
  expect(made.status).toBe(200);
  expect(made.visibleText).toContain(`Created @${ada.username}.writer`);
  expect(made.url).toMatch(/\/console\/agents\/agt_\w+$/);
  expect(await recordOf(`${ada.username}.writer`)).toMatchObject({
    display_name: 'The writer',
    description: 'Writes.',
    scope: 'personal',
    visibility: 'unlisted',
    inbound_policy: 'open',
  });
  const list = await ada.go('/console/agents');
  expect(list.visibleText).toContain(`The writer @${ada.username}.writer`);
});

test.each(['private', 'unlisted', 'public'] as const)(
  'the list says that an agent is %s',
  async (visibility) => {
    const ada = await signInPerson(service);
    await ada.agent('agent', { visibility });
    const list = await ada.go('/console/agents');
    const badges = list.elements('span').filter(({ attribs }) => /\bbadge\b/.test(attribs['class'] ?? ''));
    expect(badges.map((badge) => textContent(badge).toLowerCase())).toEqual([visibility]);
  },
);

test.each([
  ['own', 'private', 'trusted_only'],
  ['handle', 'unlisted', 'contacts_only'],
  ['everybody', 'public', 'open'],
])('the preset %s gives an agent that is %s and accepts %s', async (preset, visibility, inbound_policy) => {
  const ada = await signInPerson(service);
  await ada.fill(create, { fields: { name: 'agent', display_name: 'A', preset }, button: 'create' });
  expect(await recordOf(`${ada.username}.agent`)).toMatchObject({ visibility, inbound_policy });
});

test('a setting under Advanced wins over the preset', async () => {
  const ada = await signInPerson(service);
  const fields = { name: 'agent', display_name: 'A', preset: 'everybody', visibility: 'unlisted' };
  await ada.fill(create, { fields, button: 'create' });
  const agent = await recordOf(`${ada.username}.agent`);
  expect(agent).toMatchObject({ visibility: 'unlisted', inbound_policy: 'open' });
});

describe('invalid input', () => {
  const wanted = {
    name: 'agent',
    display_name: 'Kept',
    description: 'Typed already.',
    card_body: '\n# Kept too',
    'skill_name.2': 'kept',
    'skill_description.2': 'As well.',
    visibility: 'public',
  };

  test.each([
    ['an invalid name', { name: '-x-' }, 'name', /has 1 to 32 of a-z/],
    ['a name that is too long', { name: 'x'.repeat(33) }, 'name', /at most 32 characters/],
    ['no display name', { display_name: '  ' }, 'display_name', /at least 1 character/],
    ['a description beyond its limit', { description: 'x'.repeat(1001) }, 'description', /at most 1,000/],
    ['a card beyond its limit', { card_body: 'é'.repeat(16_385) }, 'card_body', /at most 32768 bytes/],
    ['a skill that is no slug', { 'skill_name.2': 'No slug' }, 'skill_name.0', /must be a lower-case slug/],
    ['a skill without a name', { 'skill_name.2': '' }, 'skill_name.0', /must be a lower-case slug/],
    ['an invalid visibility', { visibility: 'hidden' }, 'visibility', /Choose one of these/],
    ['an invalid preset', { preset: 'all', visibility: '' }, 'visibility', /Choose one of these/],
    ['an invalid policy', { inbound_policy: 'everyone' }, 'inbound_policy', /Choose one of these/],
    ['a description with NUL', { description: 'nothing\0' }, 'description', /without NUL/],
  ])('%s is said at its field, and nothing typed is lost', async (_what, wrong, field, message) => {
    const ada = await signInPerson(service);
    const input = { ...wanted, ...wrong };
    const page = await ada.fill(create, { fields: input, button: 'create' });
    expect(page.status).toBe(400);
    expect(page.title).toMatch(/^Error: /);
    expect(findFieldError(page, field)).toMatch(message);
    const { 'skill_name.2': skill_name, 'skill_description.2': skill_description, ...rest_ } = input;
    const kept = { ...rest_, 'skill_name.0': skill_name, 'skill_description.0': skill_description };
    const expected = Object.entries(kept).flatMap(([name, value]) =>
      value === null || ['inbound_policy', 'preset'].includes(name) || value === 'hidden'
        ? []
        : [[name, value.trim()]],
    );
    const fields = Object.entries(readFormFields(page, create)).map(([name, value]) => [name, value.trim()]);
    expect(fields).toEqual(expect.arrayContaining(expected));
    expect((await ada.go('/console/agents')).visibleText).toContain('No agents yet');
  });

  test('a handle that is taken by an active or by a deleted agent', async () => {
    const ada = await signInPerson(service);
    await ada.agent('agent');
    const page = await ada.fill(create, { fields: wanted, button: 'create' });
    expect([page.status, findFieldError(page, 'name')]).toEqual([
      409,
      'This handle is taken; choose another agent name.',
    ]);
    expect(readFormFields(page, create)['display_name']).toBe('Kept');
  });

  test('a form above the size limit', async () => {
    const ada = await signInPerson(service);
    const page = await ada.fill(create, { fields: { ...wanted, card_body: 'x'.repeat(300_000) } });
    expect(page.status).toBe(413);
  });
});

describe('agents of organizations', () => {
  test('a member creates agents of their own, an admin shared agents too', async () => {
    const [boss, worker] = [await signInPerson(service), await signInPerson(service)];
    const slug = await createOrganizationOf(service, { admins: [boss], members: [worker] });
    const fields = { display_name: 'Ours' };
    const shared = await boss.fill(create, {
      fields: { ...fields, name: 'desk', owner: `shared:${slug}` },
      button: 'create',
    });
    expect(shared.visibleText).toContain(`Created @${slug}.desk`);
    const tied = await worker.fill(create, {
      fields: { ...fields, name: 'mine', owner: `member:${slug}` },
      button: 'create',
    });
    expect(tied.visibleText).toContain(`agent of ${worker.username}`);
    expect((await boss.go('/console/agents')).visibleText).toMatch(
      new RegExp(`@${slug}.desk.*@${slug}.mine`),
    );
    expect((await worker.go('/console/agents')).visibleText).not.toContain('desk');

    expect((await worker.go(create)).text).not.toContain(`shared:${slug}`);
    const refused = await worker.fill(create, {
      fields: { ...fields, name: 'x', owner: `shared:${slug}` },
      button: 'create',
    });
    expect([refused.status, findFieldError(refused, 'owner')]).toEqual([
      403,
      `Only admins of ${slug} can register its shared agents.`,
    ]);
  });

  test('an organization of others gets the same response as a missing one', async () => {
    const [boss, stranger] = [await signInPerson(service), await signInPerson(service)];
    await createOrganizationOf(service, { members: [stranger] });
    const slug = await createOrganizationOf(service, { admins: [boss] });
    const answers = await Promise.all(
      [slug, newUsername('none')].map(async (organization) => {
        const fields = { name: 'x', display_name: 'X', owner: `member:${organization}` };
        const page = await stranger.fill(create, { fields, button: 'create' });
        return [page.status, findFieldError(page, 'owner')];
      }),
    );
    expect(answers[0]).toEqual([400, 'No such organization, or you do not belong to it.']);
    expect(answers[1]).toEqual(answers[0]);
  });
});

test('a long list is paged, with the agents of organizations, and can be searched', async () => {
  const boss = await signInPerson(service);
  const slug = await createOrganizationOf(service, { admins: [boss] });
  for (let number = 0; number < 49; number += 1) await boss.agent(`own-${number}`);
  for (let number = 0; number < 3; number += 1)
    await service.register({ handle: `${slug}.shared-${number}` });
  const first = await boss.go('/console/agents');
  const second = await boss.go(first.next ?? '');
  const handlesOf = (text: string) => text.match(/@[\w.-]+\.(?:own|shared)-\d+/g) ?? [];
  const shown = [handlesOf(first.visibleText), handlesOf(second.visibleText)];
  expect(shown.map(({ length }) => length)).toEqual([50, 2]);
  expect(new Set(shown.flat()).size).toBe(52);
  expect(second.visibleText).not.toContain('More agents');
  const found = await boss.go('/console/agents?q=SHARED-1');
  expect(handlesOf(found.visibleText)).toEqual([`@${slug}.shared-1`]);
  expect((await boss.go('/console/agents?q=nothing')).visibleText).toContain('No agent matches');
});

test('agents that need attention are first, with what is wrong, the last message and counts', async () => {
  const ada = await signInPerson(service);
  const [quiet, busy, broken] = [
    await ada.agent('quiet'),
    await ada.agent('busy'),
    await ada.agent('broken'),
  ];
  const other = await service.agent();
  await startThread(service, other, [busy], { content: 'The newest word', metadata: {} });
  await startThread(service, quiet, [other], { content: 'Sent by itself' });
  await startThread(service, other, [broken], { content: 'Fails again' });
  const inbox = inboxOf(service.api, broken);
  await inbox.turnOn({ max_attempts: 1, from: 'earliest' });
  const [lease] = await inbox.leases({ consumer: 'worker-1' });
  await inbox.release(lease?.id ?? '', { reason: 'cannot' });
  const page = await ada.go('/console/agents');
  const rows = page.elements('tr').map((row) => textContent(row));
  expect(rows.slice(1).map((row) => /\.(quiet|busy|broken)/.exec(row)?.[1])).toEqual([
    'broken',
    'busy',
    'quiet',
  ]);
  expect(rows[1]).toMatch(/1 dead item.*Fails again.*1.*0 · 0 · 1/);
  expect(rows[2]).toMatch(/The newest word.*1/);
});

test('an invalid cursor shows the first page', async () => {
  const ada = await signInPerson(service);
  await ada.agent('only');
  for (const after of ['%00', 'x', encodeURIComponent("' or 1 --"), 'a.b%ff']) {
    const page = await ada.go(`/console/agents?after=${after}`);
    expect([page.status, page.visibleText.includes('.only')]).toEqual([200, true]);
  }
});

test('names from other people are escaped on every page', async () => {
  const ada = await signInPerson(service);
  const hostile = `"><script>alert(1)</script><b>'`;
  const fields = { name: 'x', display_name: hostile, description: hostile, card_body: hostile };
  const made = await ada.fill(create, {
    fields: { ...fields, 'skill_name.0': 'a', 'skill_description.0': hostile },
    button: 'create',
  });
  const profile = `${new URL(made.url).pathname}/profile`;
  const preview = await ada.send(
    fillForm(made, profile, { ...readFormFields(await ada.go(profile), profile), intent: 'preview' }),
  );
  const pages = [
    '/console/agents',
    '/console',
    ...['', '/profile', '/settings', '/delete'].map((below) => new URL(made.url).pathname + below),
  ];
  for (const page of [made, preview, ...(await Promise.all(pages.map((address) => ada.go(address))))]) {
    expect(page.status).toBe(200);
    expect(page.visibleText).toContain(hostile);
    expect(foreignScripts(page)).toEqual([]);
    expect(page.elements('b')).toEqual([]);
  }
});
