import { expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { newUsername, createOrganizationOf, signInPerson } from '../signed-in-person.ts';

const service = useSharedService();

const auditOf = (slug: string, query = '') => `/console/organizations/${slug}/audit${query}`;
const word = (text: string) => new RegExp(`${text}\\b`);

async function founded() {
  const [admin, member] = [await signInPerson(service), await signInPerson(service)];
  const slug = await createOrganizationOf(service, { admins: [admin], members: [member] });
  const handle = `${slug}.${newUsername('desk')}`;
  const agent = await service.register({ handle, scope: 'shared', visibility: 'private' });
  return { admin, member, slug, handle, agent };
}

test('admins see the actions on members and agents of their organization, and no others', async () => {
  const { admin, member, slug, handle, agent } = await founded();
  const other = await founded();
  const form = `/console/agents/${agent.id}/settings/pause`;
  await admin.send(findForm(await admin.go(`/console/agents/${agent.id}/settings`), form));
  const page = await admin.go(auditOf(slug));
  expect(page.status).toBe(200);
  expect(page.visibleText).toMatch(word(`Agent registered @${handle}`));
  expect(page.visibleText).toMatch(word(`Agent changed @${handle}`));
  expect(page.visibleText).toContain(`person ${admin.username} · console`);
  expect(page.visibleText).toContain(`Member changed ${member.username}`);
  for (const strange of [other.slug, other.handle, other.admin.username])
    expect(page.visibleText).not.toContain(strange);
  // The addresses from which a person signs in are private, not the organization's.
  expect(page.visibleText).not.toMatch(/Sign in succeeded.*192\.0\.2\.7/);
});

test('members without the admin role get an error, and strangers the same page as for a missing organization', async () => {
  const { member, slug, handle } = await founded();
  const stranger = await signInPerson(service);
  const [told, hidden, absent] = [
    await member.go(auditOf(slug)),
    await stranger.go(auditOf(slug)),
    await stranger.go(auditOf('absent-organization')),
  ];
  expect([told.status, hidden.status, absent.status]).toEqual([403, 404, 404]);
  expect(hidden.visibleText.replace(/[0-9a-f-]{36}/, '')).toBe(
    absent.visibleText.replace(/[0-9a-f-]{36}/, ''),
  );
  for (const page of [told, hidden]) expect(page.visibleText).not.toContain(handle);
  expect((await member.go(`/console/organizations/${slug}`)).text).not.toContain(auditOf(slug));
});

test('entries are filtered by action and by agent, and paged; an unknown filter is ignored', async () => {
  const { admin, slug, handle } = await founded();
  const more = `${slug}.second`;
  await service.register({ handle: more, scope: 'shared', visibility: 'private' });
  const of = async (query: string) => (await admin.go(auditOf(slug, query))).visibleText;
  const registered = await of('?act=agent.registered');
  expect(registered).toMatch(word(`Agent registered @${handle}`));
  expect(registered).not.toMatch(/Member changed \w+.*·/);
  const second = await of(`?agent=@${more.toUpperCase()}`);
  expect([second.includes(`registered @${more}`), second.includes(`registered @${handle}`)]).toEqual([
    true,
    false,
  ]);
  for (const odd of ['?act=drop&agent=%00&before=x', '?agent=a.b.c', '?before=aud_']) {
    const answer = await admin.go(auditOf(slug, odd));
    expect([odd, answer.status]).toEqual([odd, 200]);
    expect(answer.visibleText).toMatch(word(`Agent registered @${handle}`));
  }
  await service.write(async (work) => {
    for (let count = 0; count < 60; count += 1) {
      work.changes.audit({ act: 'member.changed', about: slug, detail: { role: `round ${count}` } });
    }
  });
  const first = await admin.go(auditOf(slug));
  const rest = await admin.go(first.next ?? '');
  const rounds = (words: string) => [...words.matchAll(/round \d+/g)].map(([round]) => round);
  expect([rounds(first.visibleText).length, rounds(rest.visibleText).length]).toEqual([50, 10]);
  expect(new Set([...rounds(first.visibleText), ...rounds(rest.visibleText)]).size).toBe(60);
});
