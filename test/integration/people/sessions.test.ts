import { describe, expect, test } from 'vitest';
import {
  endOtherSessions,
  endSession,
  findPerson,
  listSessions,
  openSession,
  touchSession,
  signOutEverywhere,
} from '../../../src/services/people/sessions.ts';
import { openPeopleSetup } from './setup.ts';
import { use } from '../../support/use.ts';

const day = 24 * 60 * 60 * 1000;
const setup = use(openPeopleSetup);

const find = (token: string, now = Date.now()) => setup.read((work) => findPerson(work, token, now));
const list = (account_id: string) => setup.read((work) => listSessions(work, account_id));

describe('a session', () => {
  test('is found by its token, of which only the hash is stored', async () => {
    const { token, ...person } = await setup.person();
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(await find(token)).toEqual(person);
    expect(await find(person.session_id)).toBeUndefined();
    const rows = await setup.sql<{ text: string }>(
      `select encode(id_hash, 'base64') || s::text as text from sessions s`,
    );
    expect(JSON.stringify(rows)).not.toContain(token);
  });

  test('ends 30 days after its last use, and cannot be restored', async () => {
    const { token, session_id } = await setup.person();
    expect(await find(token, Date.now() + 29.9 * day)).toBeDefined();
    expect(await find(token, Date.now() + 30.1 * day)).toBeUndefined();
    const later = Date.now() + 20 * day;
    await setup.write((work) => touchSession({ ...work, now: later }, session_id));
    expect(await find(token, later + 29.9 * day)).toBeDefined();
    expect(await find(token, later + 30.1 * day)).toBeUndefined();
    const tooLate = later + 31 * day;
    await setup.write((work) => touchSession({ ...work, now: tooLate }, session_id));
    expect(await find(token, tooLate)).toBeUndefined();
  });

  test('stores an address and a user agent of limited length', async () => {
    const { account_id } = await setup.person();
    const from = { account_id, address: 'f'.repeat(5_000), user_agent: '\u{1f980}'.repeat(5_000) };
    await setup.write((work) => openSession(work, from));
    // The session of the sign-up may have the same time.
    const lengths = (await list(account_id)).map((each) => [each.address.length, each.user_agent.length]);
    expect(lengths).toContainEqual([64, 300]);
  });

  test('is one of at most a hundred: the least recently used one ends', async () => {
    const { account_id, token, session_id } = await setup.person();
    const { token: second } = await setup.signIn(account_id);
    await setup.write((work) => touchSession({ ...work, now: Date.now() + 1_000 }, session_id));
    for (let opened = 2; opened < 101; opened += 1) {
      const from = { account_id, address: '', user_agent: '' };
      await setup.write((work) => openSession({ ...work, now: Date.now() + opened }, from));
    }
    expect(await list(account_id)).toHaveLength(100);
    expect(await find(second)).toBeUndefined();
    expect(await find(token)).toBeDefined();
  });
});

describe('sessions of a person', () => {
  test('are listed, the most recently used first, without expired ones', async () => {
    const person = await setup.person();
    const other = await setup.signIn(person.account_id);
    await setup.write((work) => touchSession({ ...work, now: Date.now() + 1_000 }, person.session_id));
    expect(await list(person.account_id)).toEqual([
      {
        id: person.session_id,
        created_at: expect.any(Number),
        last_seen_at: expect.any(Number),
        address: '192.0.2.7',
        user_agent: 'Test/1.0',
      },
      expect.objectContaining({ id: other.session_id }),
    ]);
    await setup.sql(`update sessions set expires_at = 1 where account_id = $1 and user_agent = 'Test/1.0'`, [
      person.account_id,
    ]);
    expect(await list(person.account_id)).toEqual([]);
  });

  test('end one by one, by their own account only', async () => {
    const [person, stranger] = [await setup.person(), await setup.person()];
    const end = (account_id: string, id: string) => setup.write((work) => endSession(work, account_id, id));
    expect(await end(stranger.account_id, person.session_id)).toBe(false);
    expect(await find(person.token)).toBeDefined();
    expect(await end(person.account_id, person.session_id)).toBe(true);
    expect(await find(person.token)).toBeUndefined();
    for (const id of [person.session_id, '', 'no base64url: \0'])
      expect(await end(person.account_id, id)).toBe(false);
  });

  test('end all but one, or all; those of others stay', async () => {
    const [person, stranger] = [await setup.person(), await setup.person()];
    const others = [await setup.signIn(person.account_id), await setup.signIn(person.account_id)];
    expect(await setup.write((work) => endOtherSessions(work, person))).toBe(2);
    for (const { token } of others) expect(await find(token)).toBeUndefined();
    expect(await find(person.token)).toBeDefined();
    const all = { apps: false };
    expect(await setup.write((work) => signOutEverywhere(work, person.account_id, all))).toEqual({
      sessions_ended: 1,
      apps_ended: 0,
      ended: [],
    });
    expect(await find(person.token)).toBeUndefined();
    expect(await find(stranger.token)).toBeDefined();
  });
});
