import { describe, expect, test } from 'vitest';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { type SignedInPerson, signInPerson } from '../signed-in-person.ts';
import { createRoles, readableThreads, type Roles, sendTo, startThread } from './conversation-fixtures.ts';
import { use } from '../../../support/use.ts';

const service = useSharedService();

const path = '/console/conversations';

async function listed(person: SignedInPerson, query = ''): Promise<string[]> {
  const page = await person.go(`${path}${query}`);
  expect(page.status).toBe(200);
  return [...page.text.matchAll(/conversations\/(thd_\w{26})"/g)].map(([, id = '']) => id);
}

/** A person with two agents, and an agent of somebody else. */
async function createWorld() {
  const ada = await signInPerson(service);
  const [one, two] = [await ada.agent('one'), await ada.agent('two')];
  return { ada, one, two, other: await service.agent() };
}

describe('the list shows', () => {
  const roles = use(() => createRoles(service));

  test.each(Object.entries(readableThreads))('to %s: %j', async (name, kinds) => {
    const person = roles.people[name as keyof Roles['people']];
    expect(await listed(person)).toEqual(kinds.map((kind) => roles.threads[kind]));
  });

  test('nothing without a session', async () => {
    const browser = await signInPerson(service);
    browser.cookies.clear();
    expect((await browser.go(path)).url).toContain('/sign-in?to=%2Fconsole%2Fconversations');
  });
});

test('a new person reads what to do next', async () => {
  const ada = await signInPerson(service);
  expect((await ada.go(path)).visibleText).toMatch(/No conversations yet.*Create your first agent/);
  await ada.agent();
  expect((await ada.go(path)).visibleText).toContain('A thread appears here when one of your agents');
});

test('a thread of two own agents is listed once, with both, newest activity first', async () => {
  const { ada, one, two, other } = await createWorld();
  const shared = await startThread(service, one, [two, other], { subject: 'Three of us' });
  const later = await startThread(service, other, [one], { subject: 'Just one' });
  expect(await listed(ada)).toEqual([later, shared]);
  await sendTo(service, two, shared, 'A newer word');
  expect(await listed(ada)).toEqual([shared, later]);
  const page = await ada.go(path);
  expect(page.visibleText).toMatch(
    new RegExp(`Three of us.*@${one.handle}, @${two.handle}.*two: A newer word`),
  );
});

test('filters combine: agent, other member, status, waiting, unread', async () => {
  const { ada, one, two, other } = await createWorld();
  const open = await startThread(service, other, [one], { content: 'What do you think?' });
  const answered = await startThread(service, other, [one], { content: 'And this?' });
  await sendTo(service, one, answered, 'Fine', { metadata: { expects_reply: true } });
  const told = await startThread(service, other, [two], {
    content: 'For your information',
    metadata: { no_reply_expected: true },
  });
  const closed = await startThread(service, two, [other], { content: 'Old' });
  const response = await fetch(`${service.api}/threads/${closed}`, {
    method: 'PATCH',
    headers: { Authorization: `Bearer ${two.token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ status: 'closed' }),
  });
  expect(response.status).toBe(200);
  const expected: [string, string[]][] = [
    ['', [closed, told, answered, open]],
    [`?agent=${one.id}`, [answered, open]],
    [`?agent=${other.id}`, []],
    ['?counterpart=absent.here', []],
    [`?counterpart=@${other.handle.toUpperCase()}`, [closed, told, answered, open]],
    ['?status=closed', [closed]],
    ['?status=archived', []],
    ['?waiting=me', [open]],
    ['?waiting=others', [answered]],
    ['?unread=true', [told, answered, open]],
    [`?unread=true&agent=${two.id}`, [told]],
  ];
  for (const [query, ids] of expected) expect([query, await listed(ada, query)]).toEqual([query, ids]);
  expect((await ada.go(`${path}?status=archived`)).visibleText).toContain('No conversation matches');
  expect((await ada.go(`${path}?counterpart=%00%3Cb%3E`)).visibleText).toContain('must be a handle');
});

test('pages a long list without gaps', async () => {
  const { ada, one, other } = await createWorld();
  const made: string[] = [];
  for (let number = 0; number < 27; number += 1)
    made.unshift(await startThread(service, other, [one], { subject: `Number ${number}` }));
  const seen: string[] = [];
  for (let address: string | undefined = path; address !== undefined;) {
    const page = await ada.go(address);
    seen.push(...[...page.text.matchAll(/conversations\/(thd_\w{26})"/g)].map(([, id = '']) => id));
    address = page.next;
  }
  expect(seen).toEqual(made);
  expect(await listed(ada, '?before=nonsense')).toEqual(made.slice(0, 25));
});

test('what others write stays text', async () => {
  const { ada, one, other } = await createWorld();
  const hostile = `</p><script>alert(1)</script><img src=x onerror=alert(1)>"'`;
  await startThread(service, other, [one], { subject: hostile.slice(0, 190), content: hostile });
  const page = await ada.go(path);
  expect(page.visibleText.split(hostile).length).toBe(5);
  expect(page.elements('img').every(({ attribs }) => attribs['src'] !== 'x')).toBe(true);
  expect(page.text).not.toContain('<script>');
});

test('a deleted agent takes its conversations from the list', async () => {
  const { ada, one, other } = await createWorld();
  const id = await startThread(service, other, [one]);
  expect(await listed(ada)).toEqual([id]);
  const remove = (agent: TestAgent) =>
    fetch(`${service.api}/agents/${agent.id}`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${agent.token}` },
    });
  const token = await service.token(one.handle, { scopes: ['agents:write'] });
  expect((await remove({ ...one, token })).status).toBe(204);
  expect(await listed(ada)).toEqual([]);
});
