import { describe, expect, test } from 'vitest';
import { findForm } from '../../../clients/form-browser.ts';
import { newUsername, password, useConsole } from '../setup.ts';

const setup = useConsole();

describe('signing in', () => {
  test('a person opens an account, signs out and signs in', async () => {
    const browser = setup.browser();
    const username = newUsername();
    expect((await browser.signUp(username, password)).visibleText).toContain(`Hello, ${username}`);
    expect((await browser.signOut()).visibleText).toContain('You are signed out.');
    expect((await browser.go('/console')).url).toContain('/sign-in?to=%2Fconsole');
    expect((await browser.signIn(`  ${username.toUpperCase()} `, password)).visibleText).toContain(
      `Hello, ${username}`,
    );
  });

  test('the response is the same for an unknown account and for a wrong password', async () => {
    const { username } = await setup.signUpPerson();
    const browser = setup.browser();
    const wrong = await browser.signIn(username, 'not the password');
    const unknown = await browser.signIn(newUsername('absent'), 'not the password');
    const impossible = await browser.signIn('no name at all!', 'x');
    for (const answer of [wrong, unknown, impossible]) {
      expect(answer.status).toBe(400);
      expect(answer.title).toMatch(/^Error: /);
      expect(answer.visibleText).toContain('Wrong username or password.');
      expect(browser.cookies.has('ams_session')).toBe(false);
    }
    const shape = (text: string) =>
      text.replaceAll(/value="[^"]*"/g, '').replaceAll(/<span class="code">[^<]*/g, '');
    expect(shape(unknown.text)).toBe(shape(wrong.text));
  });

  test('a failed attempt keeps the name, and never the password', async () => {
    const answer = await setup.browser().signIn('ann', 'my secret thing');
    expect(Object.fromEntries(findForm(answer).fields)).toMatchObject({ username: 'ann', password: '' });
    expect(answer.text).not.toContain('my secret thing');
  });

  test('the cookie is hidden from scripts and other sites', async () => {
    const browser = setup.browser();
    const name = newUsername();
    await browser.signUp(name, password);
    await browser.signOut();
    const form = findForm(await browser.go('/sign-in'));
    const answer = await browser.send(form, { fields: { username: name, password }, follow: false });
    expect(answer.status).toBe(303);
    const cookie = answer.headers.getSetCookie().find((line) => /^ams_session=[\w-]{43};/.test(line));
    expect(cookie).toMatch(/; path=\/; expires=[^;]+; samesite=lax; httponly$/i);
  });

  test('using a session extends it and its cookie', async () => {
    const { username } = await setup.signUpPerson();
    const browser = setup.browser();
    await browser.fill('/sign-in', { fields: { username, password }, follow: false });
    const account = `(select id from owners where name = $1)`;
    const past = `update sessions set last_seen_at = 0, expires_at = $2 where account_id = ${account}`;
    await setup.service.sql(past, [username, Date.now() + 60_000]);
    const answer = await browser.go('/console');
    expect(answer.headers.getSetCookie().some((line) => line.startsWith('ams_session='))).toBe(true);
    const text = `select expires_at from sessions where account_id = ${account} order by 1 desc limit 1`;
    const [row] = await setup.service.sql<{ expires_at: number }>(text, [username]);
    expect(row?.expires_at).toBeGreaterThan(Date.now() + 29 * 86_400_000);
    expect((await browser.go('/console')).headers.getSetCookie()).toEqual([]);
  });

  test('an expired session is invalid', async () => {
    const { username, browser } = await setup.signUpPerson();
    const text = `update sessions set expires_at = 1 where account_id = (select id from owners where name = $1)`;
    await setup.service.sql(text, [username]);
    expect((await browser.go('/console')).url).toContain('/sign-in');
  });

  test('a second sign-in form redirects a person who is signed in', async () => {
    const { browser } = await setup.signUpPerson();
    const answer = await browser.go('/sign-in?to=/console/account', { follow: false });
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/console/account']);
  });
});

describe('the redirect after sign-in', () => {
  test.each([
    ['/console/agents?x=1', '/console/agents?x=1'],
    ['/authorize/requests/abc_-1', '/authorize/requests/abc_-1'],
    ['//evil.example/console', '/console'],
    ['/\\evil.example', '/console'],
    ['\\\\evil.example', '/console'],
    ['https://evil.example/console', '/console'],
    ['javascript:alert(1)', '/console'],
    ['/console/../../evil', '/console'],
    ['/console\t/../\\/evil.example', '/console'],
    ['/%2f%2fevil.example', '/console'],
    ['/\n/evil.example', '/console'],
    ['/console\r\nSet-Cookie: a=b', '/console'],
    ['/consolation', '/console'],
    ['/v1/agents/me', '/console'],
    ['', '/console'],
  ])('%j leads to %j', async (to, expected) => {
    const { browser, username } = await setup.signUpPerson();
    await browser.signOut();
    const page = await browser.go(`/sign-in?${new URLSearchParams({ to }).toString()}`);
    for (const filling of [{}, { to }]) {
      const fields = { username, password, ...filling };
      const answer = await browser.send(findForm(page), { fields, follow: false });
      expect(answer.status).toBe(303);
      expect(answer.headers.get('Location')).toBe(expected);
      await browser.signOut();
      page.forms = (await browser.go(page.url)).forms;
    }
  });
});

describe('sessions cannot be fixed', () => {
  test('signing in creates a new token and ends the old one', async () => {
    const { browser, username } = await setup.signUpPerson();
    const before = browser.cookies.get('ams_session')?.value ?? '';
    const other = setup.browser();
    other.cookies.set('ams_session', { value: before, path: '/' });
    expect((await other.go('/console')).visibleText).toContain(username);

    await browser.signOut();
    expect((await other.go('/console')).url).toContain('/sign-in');
    await browser.signIn(username, password);
    const after = browser.cookies.get('ams_session')?.value;
    expect(after).not.toBe(before);
  });

  test('a token supplied by the browser is never adopted', async () => {
    const { username } = await setup.signUpPerson();
    const browser = setup.browser();
    const planted = 'A'.repeat(43);
    browser.cookies.set('ams_session', { value: planted, path: '/' });
    await browser.signIn(username, password);
    expect(browser.cookies.get('ams_session')?.value).not.toBe(planted);
    const thief = setup.browser();
    thief.cookies.set('ams_session', { value: planted, path: '/' });
    expect((await thief.go('/console')).url).toContain('/sign-in');
  });

  test('the cookie from before the sign-in is removed, and its forms are refused', async () => {
    const { username } = await setup.signUpPerson();
    const browser = setup.browser();
    const form = findForm(await browser.go('/sign-in'));
    const old = browser.cookies.get('ams_browser');
    await browser.send(form, { fields: { username, password } });
    expect(browser.cookies.has('ams_browser')).toBe(false);
    if (old) browser.cookies.set('ams_browser', old);
    expect((await browser.send(form, { fields: { username, password } })).status).toBe(403);
  });

  test('signing in over a session of another person ends that session', async () => {
    const first = await setup.signUpPerson();
    const second = await setup.signUpPerson();
    const form = findForm(await first.browser.go('/console'), '/sign-out');
    const fields = { username: second.username, password };
    const before = first.browser.cookies.get('ams_session')?.value ?? '';
    const answer = await first.browser.send({ ...form, action: '/sign-in' }, { fields });
    expect(answer.visibleText).toContain(`Hello, ${second.username}`);
    const thief = setup.browser();
    thief.cookies.set('ams_session', { value: before, path: '/' });
    expect((await thief.go('/console')).url).toContain('/sign-in');
  });
});
