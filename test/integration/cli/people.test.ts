import { verify } from '@node-rs/argon2';
import { describe, expect, test } from 'vitest';
import { openApproval } from '../../../src/services/approvals/approvals.ts';
import { findPerson } from '../../../src/services/people/sessions.ts';
import { signUp } from '../../../src/services/people/sign-in.ts';
import { newUsername, openPeopleSetup, password } from '../people/setup.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';
import { use } from '../../support/use.ts';

const day = 24 * 60 * 60 * 1000;
const setup = use(openPeopleSetup);

const run = (...args: string[]) => runCli(setup.env, args);
const json = (...args: string[]) => runCliJson(setup.env, args);

describe('account', () => {
  test('password replaces the password and ends every session', async () => {
    const person = await setup.person();
    await setup.signIn(person.account_id);
    const args = ['account', 'password', person.username.toUpperCase(), '--password-stdin'];
    const next = 'a quite different one';
    expect(await runCliJson(setup.env, args, `${next}\n`)).toEqual({
      username: person.username,
      sessions_ended: 2,
      apps_ended: 0,
    });
    const [row] = await setup.sql<{ password_hash: string }>(
      'select password_hash from accounts where id = $1',
      [person.account_id],
    );
    expect(await verify(row?.password_hash ?? '', next)).toBe(true);
    expect(await setup.read((work) => findPerson(work, person.token, Date.now()))).toBeUndefined();
    expect((await runCli(setup.env, args, 'password123\n')).err).toMatch(/^error: The password is too easy/);
    expect((await runCli(setup.env, ['account', 'password', 'absent', '--password-stdin'], next)).err).toBe(
      'error: No such account: absent\n',
    );
    expect((await run('account', 'password', person.username)).code).toBe(1);
  });

  test('sign-out ends every session of that person only', async () => {
    const [person, stranger] = [await setup.person(), await setup.person()];
    const { out } = await run('account', 'sign-out', person.username);
    expect(out).toBe(`username        ${person.username}\nsessions_ended  1\napps_ended      0\n`);
    const find = (token: string) => setup.read((work) => findPerson(work, token, Date.now()));
    expect(await find(person.token)).toBeUndefined();
    expect(await find(stranger.token)).toBeDefined();
    expect((await run('account', 'sign-out', 'absent')).code).toBe(1);
  });
});

describe('org role', () => {
  test('changes the role of a member, and adds no member', async () => {
    const [slug, one, other] = [newUsername('org'), await setup.person(), await setup.person()];
    await json('org', 'create', slug);
    await setup.write((work) => joinOrganization(work, { slug, username: one.username, role: 'member' }));
    expect(await json('org', 'role', slug, one.username, 'admin')).toEqual({
      slug,
      username: one.username,
      role: 'admin',
    });
    const { code, err } = await run('org', 'role', slug, other.username, 'admin');
    expect([code, err]).toEqual([1, `error: ${other.username} is not a member of ${slug}.\n`]);
    expect((await run('org', 'role', slug, one.username, 'king')).code).toBe(2);
  });
});

describe('invitation', () => {
  const create = async (...args: string[]) =>
    (await json('invitation', 'create', ...args)) as { id: string; code: string; expires_at: number };
  const join = (invitation?: string, username = newUsername()) =>
    signUp(
      setup.unitOfWork,
      { username, password, ...(invitation !== undefined && { invitation }) },
      'invite',
    );
  const notValid = 'invitation: is invalid or has expired';

  test('create shows a code once, which is valid for one person and 14 days', async () => {
    const invitation = await create();
    expect(invitation).toEqual({
      id: expect.stringMatching(/^inv_/),
      code: expect.stringMatching(/^([0-9A-HJKMNP-TV-Z]{5}-){3}[0-9A-HJKMNP-TV-Z]{5}$/),
      uses: 1,
      created_at: expect.any(Number),
      expires_at: expect.any(Number),
    });
    const rows = await setup.sql<{ text: string }>('select i::text as text from invitations i');
    expect(JSON.stringify(rows)).not.toContain(invitation.code.replaceAll('-', ''));
    const username = newUsername();
    // As people type it: in lower case, without dashes, o for 0 and l for 1.
    const typed = ` ${invitation.code.replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l').toLowerCase()}`;
    await join(typed, username);
    await expect(join(invitation.code)).rejects.toThrow(notValid);
    const { invitations } = (await json('invitation', 'list')) as { invitations: object[] };
    expect(invitations).toContainEqual({
      id: invitation.id,
      uses: 1,
      uses_left: 0,
      created_at: expect.any(Number),
      expires_at: expect.any(Number),
      revoked_at: null,
      accounts: [username],
    });
  });

  test('is required, and is refused with one error if it never existed, expired or was revoked', async () => {
    await expect(join()).rejects.toThrow('invitation: is required to sign up');
    await expect(join(' - ')).rejects.toThrow('invitation: is required to sign up');
    const [expired, revoked] = [await create('--expires-in', '3'), await create()];
    expect(expired.expires_at).toBeGreaterThan(Date.now() + 2.9 * day);
    await setup.sql('update invitations set expires_at = $2 where id = $1', [expired.id, Date.now() - 1]);
    expect(await json('invitation', 'revoke', revoked.id)).toEqual({ id: revoked.id, revoked: true });
    for (const code of [expired.code, revoked.code, 'AAAAA-AAAAA-AAAAA-AAAAA', '\0', 'x'.repeat(10_000)]) {
      await expect(join(code)).rejects.toThrow(notValid);
    }
    for (const id of [revoked.id, 'inv_none', '']) {
      expect((await run('invitation', 'revoke', id)).err).toMatch(/^error: No active invitation has the id /);
    }
  });

  test('with a single use is valid for one of two concurrent sign-ups, and a failed sign-up does not use it', async () => {
    const { code } = await create();
    const { username: taken } = await setup.person();
    await expect(join(code, taken)).rejects.toThrow('username: is taken');
    const both = await Promise.allSettled([join(code), join(code)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('without one, sign-up does not reveal which names are taken', async () => {
    const { username: taken } = await setup.person();
    await expect(join('AAAAA-AAAAA-AAAAA-AAAAA', taken)).rejects.toThrow(notValid);
  });

  test('with three uses is valid three times', async () => {
    const { code } = await create('--uses', '3');
    const all = await Promise.allSettled([1, 2, 3, 4, 5].map(() => join(code)));
    expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
  });

  test('accepts only valid numbers', async () => {
    for (const wrong of [
      ['--uses', '0'],
      ['--uses', 'many'],
      ['--expires-in', '0.5'],
      ['--expires-in', '366'],
    ]) {
      expect((await run('invitation', 'create', ...wrong)).code).toBe(2);
    }
  });
});

describe('approval', () => {
  test('list shows the open approvals; decide decides on behalf of the owners', async () => {
    const { username } = await setup.person();
    const handle = `${username}.own`;
    const agent = (await json('agent', 'create', handle)) as { id: string };
    await json('agent', 'create', 'some.body', '--create-owner');
    const openedApproval = await setup.write((work) =>
      openApproval(work, {
        agent_id: agent.id,
        action: 'request_contact',
        target: 'some.body',
        detail: { message: 'Hello' },
      }),
    );
    const { approvals } = (await json('approval', 'list', handle)) as { approvals: { id: string }[] };
    expect(approvals).toEqual([openedApproval]);
    const id = openedApproval?.id ?? '';
    expect(await json('approval', 'decide', id, 'approved')).toEqual({
      ...openedApproval,
      state: 'approved',
      decided_at: expect.any(Number),
      decided_via: 'operator',
      used_at: expect.any(Number),
      answer: expect.stringContaining('some.body'),
      expires_at: expect.any(Number),
    });
    expect((await run('approval', 'decide', id, 'denied')).err).toBe(
      'error: This approval is already approved.\n',
    );
    expect((await run('approval', 'decide', id, 'maybe')).code).toBe(2);
    expect((await run('approval', 'decide', 'apr_none', 'denied')).err).toMatch(/^error: No such approval/);
    expect((await run('approval', 'list', 'no.body')).err).toBe('error: No such agent: no.body\n');
  });
});
