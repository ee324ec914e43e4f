import { hash, verify } from '@node-rs/argon2';
import { describe, expect, test } from 'vitest';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { findPerson, listSessions } from '../../../src/services/people/sessions.ts';
import { changePassword, checkPassword, type SignUp, signUp } from '../../../src/services/people/sign-in.ts';
import { newUsername, type PeopleSetup, openPeopleSetup, password } from './setup.ts';
import { use } from '../../support/use.ts';

const setup = use(openPeopleSetup);

/** The error code and the field that it names. */
async function refusal(attempt: Promise<unknown>): Promise<[string, string | undefined]> {
  const error: unknown = await attempt.then(
    () => 'no refusal',
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof DomainError)) throw error;
  return [error.code, error.details?.[0]?.field];
}

const join = (input: SignUp, mode: Parameters<typeof signUp>[2] = 'open') =>
  signUp(setup.unitOfWork, input, mode);
const check = (username: string, attempt: string) => checkPassword(setup.unitOfWork, username, attempt);

async function hashOf(account_id: string): Promise<string> {
  const [row] = await setup.sql<{ password_hash: string }>(
    'select password_hash from accounts where id = $1',
    [account_id],
  );
  return row?.password_hash ?? '';
}

describe('a password', () => {
  test('opens its account; the case of the name does not matter', async () => {
    const { account_id, username } = await setup.person();
    expect(await check(username, password)).toEqual({ account_id });
    expect(await check(` ${username.toUpperCase()} `, password)).toEqual({ account_id });
    expect(await check(username, `${password} `)).toBeUndefined();
    expect(await check(username, password.toUpperCase())).toBeUndefined();
  });

  test('is the same in every Unicode spelling that looks the same', async () => {
    const username = newUsername();
    // Ligature, composed and decomposed accents, full width.
    const { account_id } = await join({ username, password: 'ﬁnancé ｗｉｄｅ' });
    expect(await check(username, 'finance\u0301 wide')).toEqual({ account_id });
  });

  test('is refused with one error, after one verification each, if it is wrong, not set, or the account is missing', async () => {
    const { username } = await setup.person();
    const silent = newUsername();
    await setup.sql(
      `with o as (insert into owners (id, kind, name, created_at) values ('acc_silent', 'account', $1, 0) returning id)
       insert into accounts (id) select id from o`,
      [silent],
    );
    const tries: [string, string][] = [
      [username, 'not the password'],
      [silent, password],
      [newUsername('absent'), password],
      ['no name: \0 \ud800', password],
      [username, 'x'.repeat(100_000)],
      [username, ''],
    ];
    for (const [name, given] of tries) {
      const costs: string[] = [];
      const counting = (stored: string, plain: string) => {
        costs.push(stored.split('$').slice(1, 4).join());
        return verify(stored, plain);
      };
      expect(await checkPassword(setup.unitOfWork, name, given, counting)).toBeUndefined();
      expect(costs, name).toEqual(['argon2id,v=19,m=19456,t=2,p=1']);
    }
  });

  test('verification has a limited queue; a flood is refused before it uses a thread', async () => {
    const { account_id, username } = await setup.person();
    const begun: ((right: boolean) => void)[] = [];
    let over = false;
    const slow = () => new Promise<boolean>((end) => void (over ? end(false) : begun.push(end)));
    const unknown = newUsername('absent');
    const sentAway: unknown[] = [];
    const flood = Array.from({ length: 100 }, () =>
      checkPassword(setup.unitOfWork, unknown, password, slow).catch((error: unknown) =>
        sentAway.push(error),
      ),
    );
    await expect.poll(() => sentAway.length).toBe(100 - 2 - 64);
    expect(sentAway[0]).toMatchObject({ code: 'UNAVAILABLE', retry_after: 2 });
    expect(begun).toHaveLength(2);
    over = true;
    for (const end of begun) end(false);
    await Promise.all(flood);
    expect(await check(username, password)).toEqual({ account_id });
  });

  test('of an unknown account is refused, even if it verifies', async () => {
    const yes = () => Promise.resolve(true);
    const { account_id, username } = await setup.person();
    await setup.sql('update accounts set password_hash = null where id = $1', [account_id]);
    for (const name of [newUsername(), username]) {
      expect(await checkPassword(setup.unitOfWork, name, password, yes)).toBeUndefined();
    }
    const { username: other } = await setup.person();
    expect(await checkPassword(setup.unitOfWork, other, 'x'.repeat(201), yes)).toBeUndefined();
  });

  test('of the maximum length does not match one with more characters', async () => {
    const username = newUsername();
    const maxPassword = 'abcd '.repeat(40);
    const { account_id } = await join({ username, password: maxPassword });
    expect(await check(username, maxPassword)).toEqual({ account_id });
    expect(await check(username, `${maxPassword}x`)).toBeUndefined();
  });

  test('with an older, cheaper hash is hashed again on use', async () => {
    const { account_id, username } = await setup.person();
    const old = await hash(password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 });
    await setup.sql('update accounts set password_hash = $2 where id = $1', [account_id, old]);
    expect(await check(username, 'not the password')).toBeUndefined();
    expect(await hashOf(account_id)).toBe(old);
    expect(await check(username, password)).toEqual({ account_id });
    expect(await hashOf(account_id)).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await check(username, password)).toEqual({ account_id });
  });
});

describe('sign-up', () => {
  test('opens an account, with the name in lower case', async () => {
    const username = newUsername('Ada');
    const { account_id } = await join({ username, password });
    expect(account_id).toMatch(/^acc_/);
    expect(await check(username, password)).toEqual({ account_id });
    const rows = await setup.sql('select kind, name from owners where id = $1', [account_id]);
    expect(rows).toEqual([{ kind: 'account', name: username.toLowerCase() }]);
  });

  test('names the invalid field', async () => {
    const { username: taken } = await setup.person();
    const faults: [string, string, [string, string]][] = [
      [taken.toUpperCase(), password, ['DUPLICATE_HANDLE', 'username']],
      ['a.b', password, ['VALIDATION_ERROR', 'username']],
      ['', password, ['VALIDATION_ERROR', 'username']],
      ['x'.repeat(33), password, ['VALIDATION_ERROR', 'username']],
      ['nul\0', password, ['VALIDATION_ERROR', 'username']],
      [newUsername(), 'nine char', ['VALIDATION_ERROR', 'password']],
      [newUsername(), 'x y z'.repeat(41), ['VALIDATION_ERROR', 'password']],
    ];
    for (const [username, secret, expected] of faults) {
      expect(await refusal(join({ username, password: secret })), username).toEqual(expected);
    }
  });

  test('refuses reserved names: addresses of the service and names that suggest authority', async () => {
    for (const username of ['console', 'Admin', 'support', 'system', 'api', 'authorize', 'v1']) {
      expect(await refusal(join({ username, password }))).toEqual(['VALIDATION_ERROR', 'username']);
    }
  });

  test('refuses weak passwords: frequent ones, the name itself, one repeated character', async () => {
    const username = newUsername('ada-lovelace');
    for (const weak of ['1234567890', 'QwertyUiop', 'password123', 'aaaaaaaaaaaa', 'ababababab', username]) {
      expect(await refusal(join({ username, password: weak })), weak).toEqual([
        'VALIDATION_ERROR',
        'password',
      ]);
    }
  });

  test('with one name by two people concurrently succeeds for one', async () => {
    const username = newUsername();
    const both = await Promise.allSettled([join({ username, password }), join({ username, password })]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
  });

  test('is refused where sign-up is closed', async () => {
    expect(await refusal(join({ username: newUsername(), password }, 'closed'))).toEqual([
      'FORBIDDEN',
      undefined,
    ]);
  });
});

describe('changing a password', () => {
  const change = (person: Awaited<ReturnType<PeopleSetup['person']>>, current: string, next: string) =>
    changePassword(setup.unitOfWork, person, { current, next });
  const next = 'a quite different one';

  test('accepts the new one, refuses the old one, and ends every other session', async () => {
    const person = await setup.person();
    const [other, stranger] = [await setup.signIn(person.account_id), await setup.person()];
    await change(person, password, next);
    expect(await check(person.username, password)).toBeUndefined();
    expect(await check(person.username, next)).toEqual({ account_id: person.account_id });
    const find = (token: string) => setup.read((work) => findPerson(work, token, Date.now()));
    expect(await find(other.token)).toBeUndefined();
    expect(await find(person.token)).toBeDefined();
    expect(await find(stranger.token)).toBeDefined();
  });

  test('requires the current one, and changes nothing without it', async () => {
    const person = await setup.person();
    await setup.signIn(person.account_id);
    expect(await refusal(change(person, 'not the password', next))).toEqual(['VALIDATION_ERROR', 'current']);
    expect(await refusal(change(person, password, 'short'))).toEqual(['VALIDATION_ERROR', 'next']);
    expect(await refusal(change(person, password, 'password123'))).toEqual(['VALIDATION_ERROR', 'next']);
    expect(await check(person.username, password)).toBeDefined();
    expect(await setup.read((work) => listSessions(work, person.account_id))).toHaveLength(2);
  });

  test('sets a first one; of two concurrent changes one counts', async () => {
    const person = await setup.person();
    await setup.sql('update accounts set password_hash = null where id = $1', [person.account_id]);
    const both = await Promise.allSettled([change(person, '', next), change(person, '', `${next} 2`)]);
    expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const winner = both[0]?.status === 'fulfilled' ? next : `${next} 2`;
    expect(await check(person.username, winner)).toBeDefined();
  });
});
