import { expect, test } from 'vitest';
import { listMembers } from '../../../../src/services/people/organizations.ts';
import { findForm, openFormBrowser, type PageResponse } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import {
  createOrganizationOf,
  fillForm,
  newUsername,
  type SignedInPerson,
  signInPerson,
} from '../signed-in-person.ts';

const service = useSharedService();

const dayMs = 86_400_000;

const pathIn = ({ text }: PageResponse): string =>
  /\/console\/invitations\/[\w-]{43}/.exec(text)?.[0] ?? 'none';

const createLink = (boss: SignedInPerson, address: string, role = 'member') =>
  boss.fill(address, { fields: { role } }, `${address}/links`);

/** An organization with two admins, a member and a link, and a person outside. */
async function createWorld(role?: string) {
  const [boss, second, worker, ada] = await Promise.all(
    Array.from({ length: 4 }, () => signInPerson(service)),
  );
  if (!boss || !second || !worker || !ada) throw new Error('four people');
  const slug = await createOrganizationOf(service, { admins: [boss, second], members: [worker] });
  const address = `/console/organizations/${slug}`;
  const made = await createLink(boss, address, role);
  return { boss, second, worker, ada, slug, address, made, path: pathIn(made) };
}

const rolesIn = async (slug: string) => {
  const members = await service.read((work) => listMembers(work, slug));
  return Object.fromEntries(members.map(({ username, role }) => [username, role]));
};

const withoutId = ({ status, visibleText }: PageResponse) => [
  status,
  visibleText.replace(/Request id: ?\S+/, ''),
];

/** The page of a link that was never made. */
const readUnknown = async (person: SignedInPerson) =>
  withoutId(await person.go(`/console/invitations/${'x'.repeat(43)}`));

test('an admin makes a link, which is shown once; a person sees the organization and the role, and joins', async () => {
  const { boss, ada, slug, address, made, path } = await createWorld('admin');
  expect(made.visibleText).toContain('It is shown only once');
  const listed = await boss.go(address);
  expect(listed.visibleText).toMatch(
    new RegExp(`By link, for one person.*As an admin · invited by ${boss.username} · expires in [67] days`),
  );
  expect(pathIn(listed)).toBe('none');
  const stored = await service.sql<{ row: string }>('select i::text as row from membership_invitations i');
  expect(stored.map(({ row }) => row).join()).not.toContain(path.slice(-43));
  const page = await ada.go(path);
  expect(page.visibleText).toMatch(
    new RegExp(`Join ${slug}.*${boss.username} invites you as an admin.*Signed in as ${ada.username}`),
  );
  const joined = await ada.send(findForm(page, path), { button: 'accept' });
  expect(new URL(joined.url).pathname).toBe(address);
  expect((await rolesIn(slug))[ada.username]).toBe('admin');
  expect((await boss.go(address)).visibleText).not.toContain('Pending invitations');
  const log = (await boss.go(`${address}/audit`)).visibleText;
  expect(log).toMatch(/member\.changed|invited: true/i);
  expect(log).not.toContain(path.slice(-43));
});

test('a person without an account signs up, and comes back to the link', async () => {
  const { slug, path } = await createWorld();
  const browser = openFormBrowser(service.url);
  const signIn = await browser.go(path);
  expect(signIn.url).toContain(`/sign-in?to=${encodeURIComponent(path)}`);
  expect(signIn.visibleText).not.toContain(slug);
  const username = newUsername('new');
  const page = await browser.signUp(username, 'seven odd horses', path);
  expect(page.visibleText).toContain(`Join ${slug}`);
  await browser.send(findForm(page, path), { button: 'accept' });
  expect((await rolesIn(slug))[username]).toBe('member');
});

test('one of two people who accept at once joins', async () => {
  const { ada, slug, path } = await createWorld();
  const people = [ada, await signInPerson(service), await signInPerson(service)];
  const forms = await Promise.all(people.map(async (person) => findForm(await person.go(path), path)));
  const answers = await Promise.all(
    people.map((person, place) =>
      person.send(forms[place] ?? { action: path, fields: [], buttons: [] }, { button: 'accept' }),
    ),
  );
  expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([200, 404, 404]);
  const roles = await rolesIn(slug);
  expect(people.filter(({ username }) => username in roles)).toHaveLength(1);
});

test('a person declines, which uses the link', async () => {
  const { ada, slug, path } = await createWorld();
  const declined = await ada.send(findForm(await ada.go(path), path), { button: 'decline' });
  expect(declined.visibleText).toContain(`Declined the invitation to ${slug}.`);
  expect(withoutId(await ada.go(path))).toEqual(await readUnknown(ada));
  expect(await rolesIn(slug)).not.toHaveProperty(ada.username);
});

test('a person who joins by a link keeps no other invitation, with which a removed member could return', async () => {
  const { boss, ada, slug, address, path } = await createWorld();
  const fields = { username: ada.username, role: 'admin' };
  await boss.fill(address, { fields }, `${address}/invitations`);
  const invited = await ada.go('/console/organizations');
  await ada.send(findForm(await ada.go(path), path), { button: 'accept' });
  expect((await ada.go('/console/organizations')).visibleText).not.toContain('invites you');
  expect((await boss.go(address)).visibleText).not.toContain('Pending invitations');
  await boss.fill(`${address}/members/${ada.username}/remove`);
  const late = await ada.send(findForm(invited, `${address}/invitation`), { button: 'accept' });
  expect(late.visibleText).toContain('No such invitation');
  expect(await rolesIn(slug)).not.toHaveProperty(ada.username);
});

test('a member does not use the link up, and keeps the role', async () => {
  const { worker, ada, slug, path } = await createWorld('admin');
  const page = await worker.go(path);
  expect(page.visibleText).toContain(`You are a member of ${slug} already.`);
  const pressed = await worker.send(fillForm(page, path, { decision: 'accept' }));
  expect(pressed.visibleText).toContain(`You are a member of ${slug}.`);
  expect((await rolesIn(slug))[worker.username]).toBe('member');
  expect((await ada.go(path)).status).toBe(200);
});

const endings: [string, (world: Awaited<ReturnType<typeof createWorld>>) => Promise<unknown>][] = [
  [
    'was used',
    async ({ path }) => {
      const first = await signInPerson(service);
      await first.send(findForm(await first.go(path), path), { button: 'accept' });
    },
  ],
  [
    'was revoked',
    async ({ boss, address }) => {
      const page = await boss.send(findForm(await boss.go(address), `${address}/invitations/revoke`));
      expect(page.visibleText).toContain('Revoked the link.');
    },
  ],
  [
    'has expired',
    ({ slug }) =>
      service.sql(
        `update membership_invitations set expires_at = expires_at - $2 where organization_id = (select id from owners where name = $1)`,
        [slug, 8 * dayMs],
      ),
  ],
  [
    'was made by somebody who is no longer an admin',
    ({ boss, second, address }) =>
      second.fill(address, { fields: { username: boss.username, role: 'member' } }, `${address}/roles`),
  ],
];

test.each(endings)(
  'a link that %s shows the same page as one that never was, and makes no member',
  async (_, end) => {
    const world = await createWorld();
    const { ada, second, slug, address, path } = world;
    const form = findForm(await ada.go(path), path);
    await end(world);
    const unknown = await readUnknown(ada);
    expect(unknown[0]).toBe(404);
    expect(withoutId(await ada.go(path))).toEqual(unknown);
    expect(withoutId(await ada.send(form, { button: 'accept' }))).toEqual(unknown);
    expect(withoutId(await ada.send(form, { button: 'decline' }))).toEqual(unknown);
    expect(await rolesIn(slug)).not.toHaveProperty(ada.username);
    expect((await second.go(address)).visibleText).not.toContain('By link');
  },
);

test('links of somebody who is no longer an admin leave room for other invitations', async () => {
  const { boss, second, ada, slug, address } = await createWorld();
  const copy = `insert into membership_invitations (organization_id, secret_hash, role, invited_by, created_at, expires_at)
    select organization_id, sha256(n::text::bytea || i.secret_hash), role, invited_by, created_at, expires_at
    from membership_invitations i, generate_series(1, 99) n
    where organization_id = (select id from owners where name = $1)`;
  await service.sql(copy, [slug]);
  const invite = () =>
    second.fill(address, { fields: { username: ada.username, role: 'member' } }, `${address}/invitations`);
  expect((await invite()).visibleText).toContain('at most 100 pending invitations');
  await second.fill(address, { fields: { username: boss.username, role: 'member' } }, `${address}/roles`);
  expect((await invite()).visibleText).toContain(`Invited ${ada.username}.`);
});

test('only admins make, see and revoke links, of their organization only', async () => {
  const { boss, worker, ada, address, path } = await createWorld();
  const other = await createWorld();
  expect((await worker.go(address)).visibleText).not.toMatch(/By link|Invite by link/);
  for (const person of [worker, ada]) {
    const form = fillForm(await person.go('/console'), `${address}/links`, { role: 'admin' });
    const refused = await person.send(form);
    expect([403, 404]).toContain(refused.status);
    expect(pathIn(refused)).toBe('none');
  }
  const { fields } = findForm(await boss.go(address), `${address}/invitations/revoke`);
  const link = fields.find(([name]) => name === 'link')?.[1] ?? '';
  const page = await other.boss.go(other.address);
  for (const number of [link, '-1', '1e3', 'x'])
    await other.boss.send(fillForm(page, `${other.address}/invitations/revoke`, { link: number }));
  await worker.send(fillForm(await worker.go('/console'), `${address}/invitations/revoke`, { link }));
  expect((await ada.go(path)).status).toBe(200);
  expect((await ada.go(other.path)).status).toBe(200);
});
