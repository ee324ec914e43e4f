import { expect, test } from 'vitest';
import { findForm, type PageResponse } from '../../../clients/form-browser.ts';
import { password, useConsole } from '../setup.ts';

const setup = useConsole();

const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';
const rowsOf = (page: PageResponse) => page.elements('li').filter((each) => each.attribs['class'] === 'row');

async function twoBrowsers() {
  const { username, browser: here } = await setup.signUpPerson();
  const there = setup.browser();
  await there.fill('/sign-in', { fields: { username, password }, headers: { 'User-Agent': firefox } });
  return { username, here, there };
}

test('a person sees all sessions, and which one is this browser', async () => {
  const { here } = await twoBrowsers();
  const page = await here.go('/console/sessions');
  expect(rowsOf(page)).toHaveLength(2);
  expect(page.visibleText).toContain('Firefox on Linux');
  expect(page.visibleText.match(/This browser/g)).toHaveLength(1);
  expect(page.visibleText).toContain('127.0.0.1');
});

test('another browser is signed out; this one stays signed in', async () => {
  const { here, there } = await twoBrowsers();
  const page = await here.go('/console/sessions');
  const other = page.forms.find(({ buttons }) => buttons[0]?.text.includes('Firefox'));
  if (!other) throw new Error('there is no other browser');
  expect((await here.send(other)).visibleText).toContain('Browser signed out.');
  expect((await there.go('/console')).url).toContain('/sign-in');
  expect(rowsOf(await here.go('/console/sessions'))).toHaveLength(1);
});

test('all other browsers are signed out together', async () => {
  const { here, there, username } = await twoBrowsers();
  const third = setup.browser();
  await third.signIn(username, password);
  const answer = await here.fill('/console/sessions', {}, '/console/sessions/end-others');
  expect(answer.visibleText).toContain('All other browsers are signed out.');
  for (const other of [there, third]) expect((await other.go('/console')).url).toContain('/sign-in');
  expect((await here.go('/console')).visibleText).toContain(username);
});

test('this browser can be signed out from the list, too', async () => {
  const { here, there, username } = await twoBrowsers();
  const page = await here.go('/console/sessions');
  const own = page.forms.find(
    ({ action, buttons }) => action.endsWith('/end') && buttons[0]?.text === 'Sign out',
  );
  if (!own) throw new Error('this browser is not listed');
  expect((await here.send(own)).visibleText).toContain('You are signed out.');
  expect((await here.go('/console')).url).toContain('/sign-in');
  expect((await there.go('/console')).visibleText).toContain(username);
});

test("another person's session and an invalid session id are refused alike", async () => {
  const ada = await setup.signUpPerson();
  const eve = await setup.signUpPerson();
  const own = findForm(await ada.browser.go('/console/sessions'), '/console/sessions/end');
  const id = new Map(own.fields).get('id') ?? '';
  expect(id).toMatch(/^[\w-]{43}$/);
  for (const target of [id, 'x', '', '\0']) {
    const form = findForm(await eve.browser.go('/console/sessions'), '/console/sessions/end');
    const answer = await eve.browser.send(form, { fields: { id: target } });
    expect(answer.status).toBe(200);
  }
  expect((await ada.browser.go('/console')).visibleText).toContain(ada.username);
  expect((await eve.browser.go('/console')).visibleText).toContain(eve.username);
});
