import { verify } from '@node-rs/argon2';
import { describe, expect, test } from 'vitest';
import { useAuthorizationServer } from '../oauth/authorization-server.ts';
import { createInvitationLink } from '../../../src/services/people/membership-invitations.ts';
import { joinOrganization } from '../../support/join-organization.ts';
import { runCli, runCliJson } from '../../clients/cli.ts';

const authority = useAuthorizationServer();

const run = (...args: string[]) => runCli(authority.env, args);
const json = (...args: string[]) => runCliJson(authority.env, args);

describe('account create', () => {
  test('opens an account; the password is stored as an argon2id hash', async () => {
    const account = await runCliJson(
      authority.env,
      ['account', 'create', 'Ada', '--password-stdin'],
      'correct horse\n',
    );
    expect(account).toEqual({
      id: expect.stringMatching(/^acc_/),
      username: 'ada',
      created_at: expect.any(Number),
    });
    const [row] = await authority.sql<{ password_hash: string }>('select password_hash from accounts');
    expect(row?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verify(row?.password_hash ?? '', 'correct horse')).toBe(true);
  });

  test('without a password, sign-in is impossible', async () => {
    const { code, out } = await run('account', 'create', 'silent');
    expect(code).toBe(0);
    expect(out).toMatch(/^id +acc_\w+\nusername +silent\ncreated_at +2\d{3}-/);
    const rows = await authority.sql(
      `select password_hash from accounts join owners using (id) where name = 'silent'`,
    );
    expect(rows).toEqual([{ password_hash: null }]);
  });

  test('refuses a name that is taken or invalid, and a short password', async () => {
    await json('account', 'create', 'taken');
    await json('org', 'create', 'taken-org');
    const short = await runCli(authority.env, ['account', 'create', 'x', '--password-stdin'], 'short');
    expect([short.code, short.err]).toEqual([1, 'error: The password must have 10 to 200 characters.\n']);
    for (const name of ['taken', 'taken-org', 'a.b', '-a', '', 'x'.repeat(33)]) {
      const { code, out, err } = await run('account', 'create', '--', name);
      expect([code, out]).toEqual([1, '']);
      expect(err).toMatch(/^error: (This owner name is taken|Invalid name: .* A name has 1 to 32).*\n$/);
    }
  });
});

test('set-name and the options of create set the display name of an owner', async () => {
  expect(await json('account', 'create', 'vance', '--display-name', ' Carol\u202e  Vance ')).toMatchObject({
    username: 'vance',
    display_name: 'Carol Vance',
  });
  expect(await json('org', 'create', 'vance-org', '--name', 'Vance & Sons')).toMatchObject({
    slug: 'vance-org',
    name: 'Vance & Sons',
  });
  expect(await json('account', 'set-name', 'vance', '')).toEqual({ username: 'vance', display_name: null });
  expect(await json('org', 'set-name', 'vance-org', 'Vance Group')).toEqual({
    slug: 'vance-org',
    name: 'Vance Group',
  });
  expect(await run('org', 'set-name', 'vance-org', 'VANCE')).toMatchObject({
    code: 1,
    err: expect.stringContaining('is the name of another account or organization'),
  });
  expect((await run('org', 'set-name', 'vance', 'A person')).code).toBe(1);
});

describe('org', () => {
  test('create and invite; inviting again replaces the invitation, and adds no member', async () => {
    await json('account', 'create', 'grace');
    expect(await json('org', 'create', 'acme')).toMatchObject({
      id: expect.stringMatching(/^org_/),
      slug: 'acme',
    });
    const expires_at = expect.any(Number);
    const invitation = { slug: 'acme', username: 'grace', expires_at };
    expect(await json('org', 'add', 'acme', 'grace')).toEqual({ ...invitation, role: 'member' });
    expect(await json('org', 'invite', 'acme', 'grace', '--role', 'admin')).toEqual({
      ...invitation,
      role: 'admin',
    });
    expect(await json('org', 'invitations', 'acme')).toEqual({
      invitations: [
        { ...invitation, role: 'admin', invited_by: null, created_at: expect.any(Number), link: null },
      ],
    });
    expect(await json('org', 'members', 'acme')).toEqual([]);
    expect(await json('org', 'revoke', 'acme', 'grace')).toEqual({
      slug: 'acme',
      username: 'grace',
      revoked: true,
    });
    expect(await json('org', 'invitations', 'acme')).toEqual({ invitations: [] });
    expect((await run('org', 'revoke', 'acme', 'grace')).err).toMatch(/^error: No such invitation/);
  });

  test('links are listed with a number, which revokes one, once', async () => {
    await json('org', 'create', 'links');
    const { id: account_id } = (await json('account', 'create', 'lena')) as { id: string };
    const secret = await authority.write(async (work) => {
      await joinOrganization(work, { slug: 'links', username: 'lena', role: 'admin' });
      return createInvitationLink(work, { account_id }, { slug: 'links', role: 'member' });
    });
    const list = async () => {
      const { invitations } = (await json('org', 'invitations', 'links')) as {
        invitations: { link: number }[];
      };
      return invitations;
    };
    const [invitation] = await list();
    expect(invitation).toMatchObject({ username: null, role: 'member', invited_by: 'lena' });
    const link = invitation?.link ?? 0;
    expect(JSON.stringify(invitation)).not.toContain(secret.split('/').at(-1));
    // Not through another organization.
    await json('org', 'create', 'no-links');
    for (const [slug, number] of [
      ['no-links', link],
      ['links', link + 1],
    ] as const)
      expect((await run('org', 'revoke-link', slug, String(number))).err).toMatch(
        /^error: No such invitation/,
      );
    expect((await run('org', 'revoke-link', 'links', 'x')).code).toBe(2);
    const revoke = ['org', 'revoke-link', 'links', String(link)];
    expect(await json(...revoke)).toEqual({ slug: 'links', link, revoked: true });
    expect(await list()).toEqual([]);
    expect((await run(...revoke)).err).toMatch(/^error: No such invitation/);
  });

  test('refuses an unknown organization, an unknown person, and one in place of the other', async () => {
    await json('account', 'create', 'alan');
    await json('org', 'create', 'lab');
    for (const [slug, username] of [
      ['nowhere', 'alan'],
      ['lab', 'absent'],
      ['alan', 'lab'],
    ] as const) {
      const { code, err } = await run('org', 'add', slug, username);
      expect(code).toBe(1);
      expect(err).toMatch(/^error: No such (organization|account): /);
    }
    expect((await run('org', 'add', 'lab', 'alan', '--role', 'king')).code).toBe(2);
  });

  test('list shows the members; remove removes one, once', async () => {
    await json('org', 'create', 'club');
    for (const name of ['zoe', 'max']) await json('account', 'create', name);
    await authority.write(async (work) => {
      await joinOrganization(work, { slug: 'club', username: 'zoe', role: 'admin' });
      await joinOrganization(work, { slug: 'club', username: 'max', role: 'member' });
    });
    expect((await run('org', 'invite', 'club', 'zoe')).err).toMatch(/already a member of club/);
    const created_at = expect.any(Number);
    const zoe = { username: 'zoe', role: 'admin', created_at };
    expect(await json('org', 'members', 'club')).toEqual([
      { username: 'max', role: 'member', created_at },
      zoe,
    ]);
    expect(await json('org', 'remove', 'CLUB', 'max')).toEqual({ slug: 'club', username: 'max' });
    expect(await json('org', 'members', 'club')).toEqual([zoe]);
    const { code, err } = await run('org', 'remove', 'club', 'max');
    expect([code, err]).toEqual([1, 'error: max is not a member of club.\n']);
    for (const wrong of [
      ['org', 'members', 'nowhere'],
      ['org', 'remove', 'nowhere', 'zoe'],
    ]) {
      expect((await run(...wrong)).err).toMatch(/^error: No such organization: /);
    }
  });
});
