import { expect, test } from 'vitest';
import { password, useConsole } from '../setup.ts';

const setup = useConsole();
const form = '/console/account/password';
const next = 'eleven calm rivers';

test('changing the password signs out all other browsers', async () => {
  const { username, browser } = await setup.signUpPerson();
  const other = setup.browser();
  await other.signIn(username, password);
  const answer = await browser.fill('/console/account', { fields: { current: password, next } }, form);
  expect(answer.visibleText).toContain('Password changed.');
  expect((await browser.go('/console')).visibleText).toContain(username);
  expect((await other.go('/console')).url).toContain('/sign-in');
  expect((await setup.browser().signIn(username, password)).status).toBe(400);
  expect((await setup.browser().signIn(username, next)).visibleText).toContain(username);
});

test.each([
  ['the current one is wrong', { current: 'something else', next }, 'Current password is wrong.'],
  [
    'the new one is too short',
    { current: password, next: 'short' },
    'New password must have 10 to 200 characters.',
  ],
  ['nothing is filled in', { current: '', next: '' }, 'Current password is wrong.'],
])('nothing changes when %s', async (_why, fields, words) => {
  const { username, browser } = await setup.signUpPerson();
  const answer = await browser.fill('/console/account', { fields }, form);
  expect(answer.status).toBe(400);
  expect(answer.title).toMatch(/^Error: /);
  expect(answer.visibleText).toContain(words);
  expect((await setup.browser().signIn(username, password)).visibleText).toContain(username);
});
