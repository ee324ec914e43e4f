import { describe, expect, test } from 'vitest';
import { listMembers } from '../../../../src/services/people/organizations.ts';
import { joinOrganization } from '../../../support/join-organization.ts';
import { findForm } from '../../../clients/form-browser.ts';
import { useSharedService } from '../../../support/service.ts';
import { registerApp, readTokens } from '../../../clients/oauth/app.ts';
import {
  findFieldError,
  readFormFields,
  fillForm,
  newUsername,
  createOrganizationOf,
  signInPerson,
} from '../signed-in-person.ts';

const service = useSharedService();

const list = '/console/organizations';

async function createOrganization() {
  const [boss, worker, stranger] = [
    await signInPerson(service),
    await signInPerson(service),
    await signInPerson(service),
  ];
  const slug = await createOrganizationOf(service, { admins: [boss], members: [worker] });
  return { boss, worker, stranger, slug, address: `${list}/${slug}` };
}

const rolesIn = async (slug: string) => {
  const members = await service.read((work) => listMembers(work, slug));
  return Object.fromEntries(members.map(({ username, role }) => [username, role]));
};

test('the page lists the agents that the person manages: all for an admin, the linked ones for a member', async () => {
  const { boss, worker, slug, address } = await createOrganization();
  const other = await createOrganization();
  const shared = await service.register({ handle: `${slug}.desk`, scope: 'shared' });
  const linked = await service.register({ handle: `${slug}.tied`, member: worker.username });
  const foreign = await service.register({ handle: `${other.slug}.desk`, scope: 'shared' });
  const own = await boss.agent();
  const listed = async (who: typeof boss) => {
    const page = await who.go(address);
    const links = new Set(page.links);
    return [shared, linked, foreign, own].map(({ id }) => links.has(`/console/agents/${id}`));
  };
  expect(await listed(boss)).toEqual([true, true, false, false]);
  expect(await listed(worker)).toEqual([false, true, false, false]);
});

describe('creating', () => {
  test('makes the founder an admin', async () => {
    const ada = await signInPerson(service);
    const slug = newUsername('org');
    const form = findForm(await ada.go(list), list);
    const made = await ada.send(form, { fields: { slug: ` ${slug.toUpperCase()} ` } });
    expect(made.visibleText).toMatch(
      new RegExp(`Created ${slug}.*You are an admin.*${ada.username} You Admin`),
    );
    expect((await ada.go(list)).visibleText).toMatch(new RegExp(`Your organizations.*${slug}.*Admin`));
    const again = await ada.send(form, { fields: { slug } });
    expect([again.status, findFieldError(again, 'slug')]).toEqual([
      409,
      'This owner name is taken; choose another.',
    ]);
    expect(readFormFields(again, list)['slug']).toBe(slug);
  });

  test.each([
    ['no name', '-', /has 1 to 32 of a-z/],
    ['a reserved name', 'admin', /is reserved/],
    ['nothing', '', /has 1 to 32 of a-z/],
    ['a name with NUL', 'a\0', /has 1 to 32 of a-z/],
  ])('refuses %s at the field', async (_what, slug, message) => {
    const ada = await signInPerson(service);
    const page = await ada.fill(list, { fields: { slug } });
    expect([page.status, findFieldError(page, 'slug')]).toEqual([400, expect.stringMatching(message)]);
  });
});

describe('an admin', () => {
  test('invites people by username, who become members by accepting', async () => {
    const { boss, stranger, slug, address } = await createOrganization();
    const fields = { username: ` ${stranger.username.toUpperCase()} `, role: 'admin' };
    const invite = () => boss.fill(address, { fields }, `${address}/invitations`);
    expect((await invite()).visibleText).toMatch(
      new RegExp(
        `Invited ${stranger.username}.*Pending invitations.*As an admin · invited by ${boss.username}`,
      ),
    );
    expect(await rolesIn(slug)).not.toHaveProperty(stranger.username);
    expect((await stranger.go(address)).status).toBe(404);
    const home = await stranger.go('/console');
    expect(home.visibleText).toContain(`${boss.username} invites you as an admin · expires in 13 days`);
    const answer = `${address}/invitation`;
    const joined = await stranger.send(findForm(await stranger.go(list), answer), { button: 'accept' });
    expect(joined.visibleText).toContain(`You are now a member of ${slug}.`);
    expect((await rolesIn(slug))[stranger.username]).toBe('admin');
    expect((await stranger.send(findForm(home, answer), { button: 'accept' })).visibleText).toContain(
      'No such invitation',
    );
    const again = await invite();
    expect([again.status, findFieldError(again, 'username')]).toEqual([400, 'Username is already a member.']);
    for (const username of ['absent-person', slug, '\0', '']) {
      const page = await boss.fill(
        address,
        { fields: { username, role: 'admin' } },
        `${address}/invitations`,
      );
      expect([page.status, findFieldError(page, 'username')]).toEqual([
        400,
        'Username is not the username of an account.',
      ]);
      expect(readFormFields(page, `${address}/invitations`)).toMatchObject({ username, role: 'admin' });
    }
  });

  test('revokes an invitation; a person can decline one', async () => {
    const { boss, worker, stranger, slug, address } = await createOrganization();
    const fields = { username: stranger.username };
    const answer = `${address}/invitation`;
    const invite = () => boss.fill(address, { fields }, `${address}/invitations`);
    const invited = await invite();
    const form = findForm(await stranger.go(list), answer);
    expect((await worker.go(address)).visibleText).not.toContain(stranger.username);
    const revoked = await boss.send(findForm(invited, `${address}/invitations/revoke`));
    expect(revoked.visibleText).toContain(`Revoked the invitation of ${stranger.username}.`);
    const late = await stranger.send(form, { button: 'accept' });
    expect(late.visibleText).toContain('No such invitation: it has expired, was revoked');

    await invite();
    const unclear = await stranger.send({ ...form, buttons: [] }, { fields: { decision: 'maybe' } });
    expect(unclear.visibleText).toContain('Press Accept or Decline.');
    const declined = await stranger.send(form, { button: 'decline' });
    expect(declined.visibleText).toContain(`Declined the invitation to ${slug}.`);
    expect(declined.visibleText).not.toContain('invites you');
    expect((await boss.go(address)).visibleText).not.toContain('Pending invitations');
    expect(await rolesIn(slug)).not.toHaveProperty(stranger.username);
  });

  test('changes roles, and stays an admin if there is no other', async () => {
    const { boss, worker, slug, address } = await createOrganization();
    const home = await boss.go(address);
    const role = (username: string, wanted: string) =>
      boss.send(fillForm(home, `${address}/roles`, { username, role: wanted }));
    const alone = await role(boss.username, 'member');
    expect(alone.visibleText).toContain('An organization needs an admin');
    expect((await role(worker.username, 'admin')).visibleText).toContain(
      `${worker.username} is now an admin`,
    );
    expect((await role(worker.username, 'admin')).visibleText).toContain(
      `${worker.username} is now an admin`,
    );
    expect((await role(boss.username, 'member')).visibleText).toContain('You are a member');
    expect(await rolesIn(slug)).toEqual({ [boss.username]: 'member', [worker.username]: 'admin' });
    const late = await role(worker.username, 'member');
    expect(late.visibleText).toContain(`Only admins of ${slug} can do this.`);
    expect((await role('unknown', 'admin')).visibleText).toContain(`Only admins of ${slug} can do this.`);
  });

  test('removes people after a confirmation; access of their apps to its agents ends', async () => {
    const { boss, worker, slug, address } = await createOrganization();
    const tied = await service.register({ handle: `${slug}.tied`, member: worker.username });
    const app = await registerApp(service.url);
    const answer = await worker.approve(await worker.go(app.address()), tied.id);
    const code = new URL(answer.headers.get('Location') ?? '').searchParams.get('code') ?? '';
    const { access_token } = readTokens(await app.exchange(code));
    expect((await service.get({ token: access_token }, '/agents/me')).status).toBe(200);

    const remove = `${address}/members/${worker.username}/remove`;
    const question = await boss.go(remove);
    expect(question.visibleText).toContain(`Remove ${worker.username} from ${slug}?`);
    expect(Object.keys(await rolesIn(slug))).toContain(worker.username);
    const removed = await boss.send(findForm(question, remove));
    expect(removed.visibleText).toContain(`Removed ${worker.username} from ${slug}`);
    expect(await rolesIn(slug)).toEqual({ [boss.username]: 'admin' });
    expect((await service.get({ token: access_token }, '/agents/me')).status).toBe(401);
    expect((await boss.send(findForm(question, remove))).visibleText).toContain(
      `No such member: ${worker.username}`,
    );
    expect((await worker.go(`/console/agents/${tied.id}`)).status).toBe(404);
  });
});

describe('a member', () => {
  test('sees the others and can leave; the last admin cannot', async () => {
    const { boss, worker, slug, address } = await createOrganization();
    const page = await worker.go(address);
    const rows = [`${boss.username} Admin`, `${worker.username} You`].toSorted();
    expect(page.visibleText).toMatch(new RegExp(rows.join('.*')));
    expect(page.visibleText).not.toMatch(/Invite a person|Make |Remove/);
    const leave = (username: string) => `${address}/members/${username}/remove`;
    const stuck = await boss.fill(leave(boss.username));
    expect(stuck.visibleText).toContain('An organization needs an admin');
    const gone = await worker.fill(leave(worker.username));
    expect([new URL(gone.url).pathname, gone.visibleText]).toEqual([
      list,
      expect.stringContaining(`You have left ${slug}`),
    ]);
    expect(await rolesIn(slug)).toEqual({ [boss.username]: 'admin' });
    expect((await worker.go(address)).status).toBe(404);
  });

  test('cannot use the actions of admins', async () => {
    const { boss, worker, stranger, slug, address } = await createOrganization();
    const page = await worker.go(address);
    const question = await worker.go(`${address}/members/${boss.username}/remove`);
    expect([question.status, question.visibleText]).toEqual([403, expect.stringContaining('Only admins')]);
    const acts: [string, Record<string, string>][] = [
      [`${address}/invitations`, { username: stranger.username, role: 'admin' }],
      [`${address}/invitations/revoke`, { username: stranger.username }],
      [`${address}/roles`, { username: worker.username, role: 'admin' }],
      [`${address}/members/${boss.username}/remove`, {}],
    ];
    for (const [action, fields] of acts) {
      const answer = await worker.send(fillForm(page, action, fields));
      expect(answer.visibleText).toContain(`Only admins of ${slug} can do this.`);
    }
    expect(await rolesIn(slug)).toEqual({ [boss.username]: 'admin', [worker.username]: 'member' });
  });
});

test('an organization of others gets the same response as a missing one', async () => {
  const { boss, stranger, slug } = await createOrganization();
  const home = await stranger.go('/console');
  for (const name of [slug, 'no-such-organization', boss.username, '-', '%00', 'x'.repeat(200)]) {
    const address = `${list}/${name}`;
    const remove = `${address}/members/${boss.username}/remove`;
    const answers = [
      await stranger.go(address),
      await stranger.go(remove),
      await stranger.send(fillForm(home, remove)),
      await stranger.send(
        fillForm(home, `${address}/invitations`, { username: stranger.username, role: 'admin' }),
      ),
      await stranger.send(fillForm(home, `${address}/invitations/revoke`, { username: stranger.username })),
      await stranger.send(fillForm(home, `${address}/roles`, { username: stranger.username, role: 'admin' })),
    ];
    for (const { status, visibleText } of answers)
      expect([status, visibleText]).toEqual([
        404,
        expect.stringContaining('No such organization, or you do not belong to it.'),
      ]);
  }
});

test('many people and many organizations are paged', async () => {
  const { boss, slug, address } = await createOrganization();
  const many = await Promise.all(Array.from({ length: 50 }, () => signInPerson(service)));
  await service.write(async (work) => {
    for (const { username } of many) await joinOrganization(work, { slug, username, role: 'member' });
  });
  for (let number = 0; number < 50; number += 1) await createOrganizationOf(service, { members: [boss] });
  for (const [start, each, all] of [
    [address, /\/roles"/g, 52],
    [list, /organizations\/[\w-]+"/g, 51],
  ] as const) {
    const first = await boss.go(start);
    const second = await boss.go(first.next ?? '');
    const counts = [first, second].map(({ text }) => text.match(each)?.length ?? 0);
    expect(counts).toEqual([50, all - 50]);
    expect(second.visibleText).not.toMatch(/More (?:people|organizations)/);
  }
});
