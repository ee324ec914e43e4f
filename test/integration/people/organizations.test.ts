import { describe, expect, test } from 'vitest';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { listAgentsOfPerson } from '../../../src/services/people/agents.ts';
import {
  changeRole,
  foundOrganization,
  listOrganizations,
  requireOrganization,
  removeMember,
} from '../../../src/services/people/memberships.ts';
import {
  acceptInvitation,
  declineInvitation,
  inviteMember,
  listInvitationsOfPerson,
  revokeInvitationToMember,
} from '../../../src/services/people/membership-invitations.ts';
import { codeOf, newUsername, openPeopleSetup } from './setup.ts';
import { use } from '../../support/use.ts';

const setup = use(openPeopleSetup);

interface Somebody {
  account_id: string;
  username: string;
}

const found = (by: Somebody, slug: string) => setup.write((work) => foundOrganization(work, by, slug));
const invite = (by: Somebody, slug: string, who: Somebody, role: 'admin' | 'member' = 'member') =>
  setup.write((work) => inviteMember(work, by, { slug, username: who.username, role }));
const accept = (who: Somebody, slug: string) => setup.write((work) => acceptInvitation(work, who, slug));
const decline = (who: Somebody, slug: string) => setup.write((work) => declineInvitation(work, who, slug));
const revoke = (by: Somebody, slug: string, who: Somebody) =>
  setup.write((work) => revokeInvitationToMember(work, by, { slug, username: who.username }));
const invited = async (who: Somebody) =>
  (await setup.read((work) => listInvitationsOfPerson(work, who))).map(({ slug }) => slug);
const setRole = (by: Somebody, slug: string, who: Somebody, role: 'admin' | 'member') =>
  setup.write((work) => changeRole(work, by, { slug, username: who.username, role }));
const remove = (by: Somebody, slug: string, who: Somebody) =>
  setup.write((work) => removeMember(work, by, { slug, username: who.username }));
const see = (by: Somebody, slug: string) => setup.read((work) => requireOrganization(work, by, slug));
const roles = async (by: Somebody, slug: string) =>
  Object.fromEntries((await see(by, slug)).members.map(({ username, role }) => [username, role]));

/** An organization with its founder, another admin, a member, and a person outside. */
async function club() {
  const slug = newUsername('club');
  const [founder, admin] = [await setup.person(), await setup.person()];
  const [member, stranger] = [await setup.person(), await setup.person()];
  await found(founder, slug);
  await invite(founder, slug, admin, 'admin');
  await invite(founder, slug, member);
  for (const who of [admin, member]) await accept(who, slug);
  return { slug, founder, admin, member, stranger };
}

describe('an organization', () => {
  test('has its founder as the admin, and is listed to its members with their role', async () => {
    const { slug, founder, admin, member, stranger } = await club();
    const listed = (who: Somebody) => setup.read((work) => listOrganizations(work, who));
    const record = { slug, display_name: null, created_at: expect.any(Number) };
    const organization = { id: expect.stringMatching(/^org_/), ...record };
    expect(await listed(founder)).toEqual([{ ...organization, role: 'admin' }]);
    expect(await listed(member)).toEqual([{ ...organization, role: 'member' }]);
    expect(await listed(stranger)).toEqual([]);
    expect(await roles(member, slug)).toEqual({
      [founder.username]: 'admin',
      [admin.username]: 'admin',
      [member.username]: 'member',
    });
  });

  test('does not exist for people outside', async () => {
    const { slug, stranger, member } = await club();
    const names = [slug, 'nowhere', stranger.username, '', '\0'];
    const attempts = names.flatMap((name) => [
      see(stranger, name),
      invite(stranger, name, member),
      revoke(stranger, name, member),
      setRole(stranger, name, member, 'admin'),
      remove(stranger, name, member),
      remove(stranger, name, stranger),
    ]);
    const told = await Promise.all(attempts.map((attempt) => attempt.then(() => 'no refusal', String)));
    const refusals = new Set(told);
    expect([...refusals]).toEqual(['DomainError: No such organization, or you do not belong to it.']);
  });

  test('refuses a name that is taken, reserved or invalid', async () => {
    const { slug, founder, stranger } = await club();
    for (const taken of [slug, founder.username]) {
      expect(await codeOf(found(stranger, taken))).toBe('DUPLICATE_HANDLE');
    }
    for (const wrong of ['Support', 'a.b', '', '\0', 'x'.repeat(33)]) {
      expect(await codeOf(found(stranger, wrong))).toBe('VALIDATION_ERROR');
    }
  });

  test('is one of at most twenty of an admin, also when many are created concurrently', async () => {
    const person = await setup.person();
    const tries = Array.from({ length: 25 }, () => codeOf(found(person, newUsername('org'))));
    const outcomes = await Promise.all(tries);
    expect(outcomes.filter((outcome) => outcome === 'no refusal')).toHaveLength(20);
    expect(outcomes.filter((outcome) => outcome === 'FORBIDDEN')).toHaveLength(5);
  });
});

describe('its members', () => {
  test('are invited by admins only, and must be people', async () => {
    const { slug, admin, member, stranger } = await club();
    expect(await codeOf(invite(member, slug, stranger))).toBe('FORBIDDEN');
    expect(await codeOf(invite(admin, slug, member))).toBe('VALIDATION_ERROR');
    const organization = { account_id: '', username: slug };
    const refusals = await Promise.all(
      [organization, { ...organization, username: 'absent-here' }, { ...organization, username: '\0' }].map(
        (who) => invite(admin, slug, who).then(() => 'no refusal', String),
      ),
    );
    expect(new Set(refusals)).toEqual(new Set(['DomainError: username: is not the username of an account']));
    await invite(admin, slug, { ...stranger, username: ` ${stranger.username.toUpperCase()} ` }, 'admin');
    expect(await codeOf(see(stranger, slug))).toBe('NOT_FOUND');
    expect(await roles(admin, slug)).not.toHaveProperty(stranger.username);
    await accept(stranger, slug);
    expect(await roles(stranger, slug)).toMatchObject({ [stranger.username]: 'admin' });
    expect(await codeOf(accept(stranger, slug))).toBe('NOT_FOUND');
  });

  test('are only those who accept an invitation, and not after declining, revoking or 14 days', async () => {
    const { slug, admin, member, stranger, founder } = await club();
    expect(await codeOf(accept(stranger, slug))).toBe('NOT_FOUND');
    expect(await codeOf(accept(stranger, 'nowhere'))).toBe('NOT_FOUND');
    await invite(admin, slug, stranger);
    expect(await codeOf(accept(await setup.person(), slug))).toBe('NOT_FOUND');
    await decline(stranger, slug);
    expect(await codeOf(accept(stranger, slug))).toBe('NOT_FOUND');

    await invite(admin, slug, stranger);
    expect(await codeOf(revoke(member, slug, stranger))).toBe('FORBIDDEN');
    await revoke(founder, slug, stranger);
    for (const answer of [accept, decline]) expect(await codeOf(answer(stranger, slug))).toBe('NOT_FOUND');
    expect(await codeOf(revoke(founder, slug, stranger))).toBe('NOT_FOUND');

    const longAgo = Date.now() - 14 * 24 * 60 * 60 * 1000;
    await setup.write((work) =>
      inviteMember({ ...work, now: longAgo }, admin, {
        slug,
        username: stranger.username,
        role: 'admin',
      }),
    );
    expect(await invited(stranger)).toEqual([]);
    expect(await codeOf(accept(stranger, slug))).toBe('NOT_FOUND');
    expect(await roles(admin, slug)).not.toHaveProperty(stranger.username);
  });

  test('have one invitation, and the newest role counts; accepting it concurrently has one effect', async () => {
    const { slug, admin, stranger } = await club();
    await invite(admin, slug, stranger, 'admin');
    await invite(admin, slug, stranger);
    expect(await invited(stranger)).toEqual([slug]);
    const outcomes = await Promise.all([1, 2, 3].map(() => codeOf(accept(stranger, slug))));
    expect(outcomes.toSorted()).toEqual(['NOT_FOUND', 'NOT_FOUND', 'no refusal']);
    expect(await roles(admin, slug)).toMatchObject({ [stranger.username]: 'member' });
  });

  test('wait for an answer in at most a hundred invitations', async () => {
    const { slug, admin, stranger } = await club();
    await setup.sql(
      `with people as (
         insert into owners (id, kind, name, created_at)
         select 'acc_' || $1 || n, 'account', $1 || '-' || n, 1 from generate_series(1, 100) n returning id, name
       ), accounts as (insert into accounts (id) select id from people returning id)
       insert into membership_invitations (organization_id, account_id, role, created_at, expires_at)
       select o.id, a.id, 'member', 1, $2 from accounts a, owners o where o.name = $1`,
      [slug, Date.now() + 60_000],
    );
    expect(await codeOf(invite(admin, slug, stranger))).toBe('FORBIDDEN');
    await revoke(admin, slug, { ...stranger, username: `${slug}-1` });
    expect(await codeOf(invite(admin, slug, stranger))).toBe('no refusal');
    // Inviting again replaces the invitation, so it needs no place.
    expect(await codeOf(invite(admin, slug, stranger, 'admin'))).toBe('no refusal');
    expect(await codeOf(invite(admin, slug, await setup.person()))).toBe('FORBIDDEN');
  });

  test('get other roles from admins only', async () => {
    const { slug, admin, member, founder, stranger } = await club();
    expect(await codeOf(setRole(member, slug, member, 'admin'))).toBe('FORBIDDEN');
    expect(await codeOf(setRole(admin, slug, stranger, 'admin'))).toBe('NOT_FOUND');
    await setRole(admin, slug, member, 'admin');
    await setRole(member, slug, founder, 'member');
    expect(await roles(member, slug)).toMatchObject({
      [member.username]: 'admin',
      [founder.username]: 'member',
    });
  });

  test('are removed by admins, or leave; their agents there stay', async () => {
    const { slug, admin, member, founder } = await club();
    const tied = await setup.write((work) =>
      registerAgentAsOperator(work, { handle: `${slug}.tied`, member: member.username }),
    );
    const managed = async (who: Somebody) =>
      (await setup.read((work) => listAgentsOfPerson(work, who.account_id))).map(({ id }) => id);
    expect(await codeOf(remove(member, slug, admin))).toBe('FORBIDDEN');
    expect(await managed(member)).toEqual([tied.id]);
    await remove(admin, slug, member);
    expect(await managed(member)).toEqual([]);
    expect(await managed(admin)).toEqual([tied.id]);
    expect(await codeOf(see(member, slug))).toBe('NOT_FOUND');
    await remove(founder, slug, founder);
    expect(await roles(admin, slug)).toEqual({ [admin.username]: 'admin' });
  });

  test('include an admin: the last one can neither leave nor become a member', async () => {
    const { slug, admin, founder } = await club();
    await remove(founder, slug, founder);
    expect(await codeOf(remove(admin, slug, admin))).toBe('INVALID_TRANSITION');
    expect(await codeOf(setRole(admin, slug, admin, 'member'))).toBe('INVALID_TRANSITION');
    await setRole(admin, slug, admin, 'admin');
    expect(await roles(admin, slug)).toMatchObject({ [admin.username]: 'admin' });
  });

  test('include an admin, even when the last two leave concurrently, or demote each other', async () => {
    for (let round = 0; round < 5; round += 1) {
      const leaving = await club();
      const left = await Promise.all(
        [leaving.founder, leaving.admin].map((who) => codeOf(remove(who, leaving.slug, who))),
      );
      expect(left.toSorted()).toEqual(['INVALID_TRANSITION', 'no refusal']);
      const { slug, founder, admin } = await club();
      const demoted = await Promise.all([
        codeOf(setRole(founder, slug, admin, 'member')),
        codeOf(setRole(admin, slug, founder, 'member')),
      ]);
      expect(demoted.toSorted()).toEqual(['FORBIDDEN', 'no refusal']);
    }
  });
});
