import { describe, expect, test } from 'vitest';
import { newUsername, password, useConsole } from '../setup.ts';

const setup = useConsole({
  RATE_LIMITS: 'sign_in=2/600,sign_in_account=4/3600,sign_in_slow=1/60,sign_in_address=12/600,sign_up=6/3600',
  TRUST_PROXY: 'true',
});

/** Each from its own address, as a trusted proxy reports it. */
const from = (address: string) => ({ headers: { 'X-Forwarded-For': address } });
const sendFrom = (address: string, fields: Record<string, string>) =>
  setup.browser().fill('/sign-in', { fields, ...from(address) });

describe('guessing passwords', () => {
  test('is limited per name and address, with a page that says how long to wait', async () => {
    const { username } = await setup.signUpPerson();
    const guess = () => sendFrom('198.51.100.1', { username, password: 'a guess' });
    expect((await guess()).status).toBe(400);
    expect((await guess()).status).toBe(400);
    const stopped = await guess();
    expect(stopped.status).toBe(429);
    expect(Number(stopped.headers.get('Retry-After'))).toBeGreaterThan(500);
    expect(stopped.visibleText).toContain('Too many attempts. Wait 10 minutes and try again.');
    const right = await sendFrom('198.51.100.1', { username, password });
    expect(right.status).toBe(429);
  });

  test('does not stop the person at another address, until the limit of the name is reached', async () => {
    const { username } = await setup.signUpPerson();
    const guess = (address: string, word: string) => sendFrom(address, { username, password: word });
    for (const address of ['198.51.100.2', '198.51.100.3']) {
      expect((await guess(address, 'a guess')).status).toBe(400);
    }
    expect((await guess('198.51.100.4', password)).visibleText).toContain(`Hello, ${username}`);
    expect((await guess('198.51.100.5', 'a guess')).status).toBe(400);
    // Then one attempt per minute is accepted.
    expect((await guess('198.51.100.6', 'a guess')).status).toBe(400);
    const slow = await guess('198.51.100.7', password);
    expect(slow.status).toBe(429);
    expect(Number(slow.headers.get('Retry-After'))).toBeLessThanOrEqual(60);
    expect(slow.visibleText).toContain('Too many attempts. Wait a minute and try again.');
  });

  test('does not keep a person out of a browser that signed in before, and gives it no free guesses', async () => {
    const { username, browser } = await setup.signUpPerson();
    await browser.signOut();
    const signIn = (name: string, word: string) =>
      browser.fill('/sign-in', { fields: { username: name, password: word }, ...from('198.51.100.20') });
    expect((await signIn(username, password)).visibleText).toContain(`Hello, ${username}`);
    await browser.signOut();
    for (const last of [21, 22, 23, 24, 25, 26]) {
      await sendFrom(`198.51.100.${last}`, { username, password: 'a guess' });
    }
    expect((await sendFrom('198.51.100.27', { username, password })).status).toBe(429);
    expect((await signIn(username, password)).visibleText).toContain(`Hello, ${username}`);
    await browser.signOut();
    expect((await signIn(username, 'a guess')).status).toBe(400);
    expect((await signIn(username, 'a guess')).status).toBe(400);
    expect((await signIn(username, 'a guess')).status).toBe(429);

    // The mark is of this person in this browser alone.
    const { username: other } = await setup.signUpPerson();
    for (const last of [31, 32, 33, 34, 35]) {
      await sendFrom(`198.51.100.${last}`, { username: other, password: 'a guess' });
    }
    expect((await signIn(other, password)).status).toBe(429);
  });

  test('is limited per address in a browser that signed in before too, whose right passwords count', async () => {
    const { username, browser } = await setup.signUpPerson();
    await browser.signOut();
    const statuses: number[] = [];
    for (let time = 0; time < 13; time += 1) {
      const fields = { username, password };
      statuses.push((await browser.fill('/sign-in', { fields, ...from('198.51.100.40') })).status);
      if (statuses.at(-1) === 200) await browser.signOut();
    }
    expect(statuses).toEqual([...Array.from({ length: 12 }, () => 200), 429]);
  });

  test('counts unknown names alike', async () => {
    const username = newUsername('absent');
    const guess = () => sendFrom('198.51.100.7', { username, password: 'a guess' });
    expect([(await guess()).status, (await guess()).status, (await guess()).status]).toEqual([400, 400, 429]);
  });
});

test('sign-ups are limited per address', async () => {
  const signUp = () => {
    const fields = { username: newUsername(), password };
    return setup.browser().fill('/sign-up', { fields, ...from('203.0.113.9') });
  };
  for (const _ of [1, 2, 3, 4, 5, 6]) expect((await signUp()).status).toBe(200);
  const stopped = await signUp();
  expect(stopped.status).toBe(429);
  expect(stopped.visibleText).toContain('Too many attempts.');
});
