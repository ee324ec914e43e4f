import { afterAll, beforeAll, expect, test } from 'vitest';
import { formTo } from '../../support/browser-forms.ts';
import { startService, type TestService } from '../../support/service.ts';
import { freshName, organizationOf, signedIn } from './signed-in.ts';

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

const auditOf = (slug: string, query = '') => `/console/organizations/${slug}/audit${query}`;
const word = (text: string) => new RegExp(`${text}\\b`);

async function founded() {
  const [admin, member] = [await signedIn(service), await signedIn(service)];
  const slug = await organizationOf(service, { admins: [admin], members: [member] });
  const handle = `${slug}.${freshName('desk')}`;
  const agent = await service.register({ handle, scope: 'shared', visibility: 'private' });
  return { admin, member, slug, handle, agent };
}

test('admins see who did what to people and agents of theirs, and nothing of anybody else', async () => {
  const { admin, member, slug, handle, agent } = await founded();
  const other = await founded();
  const form = `/console/agents/${agent.id}/settings/pause`;
  await admin.send(formTo(await admin.go(`/console/agents/${agent.id}/settings`), form));
  const page = await admin.go(auditOf(slug));
  expect(page.status).toBe(200);
  expect(page.words).toMatch(word(`Agent registered @${handle}`));
  expect(page.words).toMatch(word(`Agent changed @${handle}`));
  expect(page.words).toContain(`person ${admin.username} · console`);
  expect(page.words).toContain(`Member changed ${member.username}`);
  for (const strange of [other.slug, other.handle, other.admin.username])
    expect(page.words).not.toContain(strange);
  // Where somebody signs in from is theirs, not their organization's.
  expect(page.words).not.toMatch(/Sign in succeeded.*192\.0\.2\.7/);
});

test('those who are no admins see none of it: members are told so, strangers as if there were no such organization', async () => {
  const { member, slug, handle } = await founded();
  const stranger = await signedIn(service);
  const [told, hidden, absent] = [
    await member.go(auditOf(slug)),
    await stranger.go(auditOf(slug)),
    await stranger.go(auditOf('nobody-is-called-so')),
  ];
  expect([told.status, hidden.status, absent.status]).toEqual([403, 404, 404]);
  expect(hidden.words.replace(/[0-9a-f-]{36}/, '')).toBe(absent.words.replace(/[0-9a-f-]{36}/, ''));
  for (const page of [told, hidden]) expect(page.words).not.toContain(handle);
  expect((await member.go(`/console/organizations/${slug}`)).text).not.toContain(auditOf(slug));
});

test('it is shown by act and by agent, and page by page; what is no filter filters nothing', async () => {
  const { admin, slug, handle } = await founded();
  const more = `${slug}.second`;
  await service.register({ handle: more, scope: 'shared', visibility: 'private' });
  const of = async (query: string) => (await admin.go(auditOf(slug, query))).words;
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
    expect(answer.words).toMatch(word(`Agent registered @${handle}`));
  }
  const { unitOfWork } = service.core;
  await unitOfWork.administer(async (work) => {
    for (let count = 0; count < 60; count += 1) {
      work.note({ act: 'member.changed', about: slug, detail: { role: `round ${count}` } });
    }
  });
  const first = await admin.go(auditOf(slug));
  const link = first.elements('a').find(({ attribs }) => attribs['rel'] === 'next')?.attribs['href'] ?? '';
  const rest = await admin.go(link);
  const rounds = (words: string) => [...words.matchAll(/round \d+/g)].map(([round]) => round);
  expect([rounds(first.words).length, rounds(rest.words).length]).toEqual([50, 10]);
  expect(new Set([...rounds(first.words), ...rounds(rest.words)]).size).toBe(60);
});
