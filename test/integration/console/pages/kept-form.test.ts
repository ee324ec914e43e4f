import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { findForm, foreignScripts, type PageResponse } from '../../../clients/form-browser.ts';
import { createAgentFor, password, type SignedInBrowser, useConsole } from '../setup.ts';
import { fillForm, readFormFields } from '../signed-in-person.ts';

const setup = useConsole();

interface Visitor extends SignedInBrowser {
  /** Path of the pages of an agent of this person. */
  agent: string;
}

async function visitor(): Promise<Visitor> {
  const person = await setup.signUpPerson();
  const { id } = await createAgentFor(setup.service, person.username, 'agent');
  return { ...person, agent: `/console/agents/${id}` };
}

/** Ends the session as if it had expired: the browser still has its cookie. */
async function expireSession({ browser }: SignedInBrowser): Promise<void> {
  const hash = createHash('sha256').update(browser.cookies.get('ams_session')?.value ?? '');
  const text = 'update sessions set expires_at = 0 where id_hash = $1 returning id_hash';
  const ended = await setup.service.sql(text, [hash.digest()]);
  expect(ended).toHaveLength(1);
}

/** Signs in on the page that refused a form, and shows the form again. */
async function signInAgain({ browser, username }: SignedInBrowser, refused: PageResponse) {
  const signedIn = await browser.send(findForm(refused, '/sign-in'), { fields: { username, password } });
  expect(signedIn.visibleText).toContain('You are signed in');
  return browser.send(findForm(signedIn, '/console/kept-form'));
}

const hostile = `a"b'</textarea></form><script>alert(1)</script>&amp;\u4e2d%00`;

test('a form that was sent without a session is shown again after the sign-in, and sent by the person', async () => {
  const ada = await visitor();
  const action = `${ada.agent}/webhooks/new`;
  const form = findForm(await ada.browser.go(action), action);
  await expireSession(ada);
  const fields = { url: 'https://example.com/hook', description: hostile, event_types: 'thread.created' };
  const refused = await ada.browser.send(form, { fields });
  expect(refused.status).toBe(403);
  expect(foreignScripts(refused)).toEqual([]);

  const shown = await signInAgain(ada, refused);
  expect(shown.status).toBe(200);
  expect(shown.visibleText).toContain('The form was not sent before you signed in.');
  expect(foreignScripts(shown)).toEqual([]);
  expect(readFormFields(shown, action)).toMatchObject({ ...fields, csrf: expect.any(String) });
  const again = findForm(shown, action);
  const [csrf, oldCsrf] = [again, form].map((each) => new Map(each.fields).get('csrf'));
  expect(csrf).not.toBe(oldCsrf);
  expect((await ada.browser.go(`${ada.agent}/webhooks`)).visibleText).not.toContain('example.com');
  expect((await ada.browser.send(again)).title).toContain('Copy the secret');
  // The page itself does not keep it.
  expect(readFormFields(await ada.browser.go(action), action)['url']).toBe('');
});

test('text areas, choices, and rows that the person added are kept', async () => {
  const ada = await visitor();
  const settings = `${ada.agent}/settings`;
  const profile = `${ada.agent}/profile`;
  const [accessForm, profileForm] = [
    findForm(await ada.browser.go(settings), settings),
    findForm(await ada.browser.go(profile), profile),
  ];
  await expireSession(ada);
  const access = { visibility: 'public', inbound_policy: 'open', can_initiate_threads: null };
  const { can_initiate_threads: _off, ...chosen } = access;
  const shown = await signInAgain(ada, await ada.browser.send(accessForm, { fields: access }));
  expect(readFormFields(shown, settings)).toMatchObject(chosen);
  expect(readFormFields(shown, settings)).not.toHaveProperty('can_initiate_threads');

  await expireSession(ada);
  const skills = Object.fromEntries([0, 1, 2].map((row) => [`skill_name.${row}`, `skill-${row}`]));
  const card = { card_body: `${hostile}\nx`.repeat(500), ...skills };
  const filled = await signInAgain(ada, await ada.browser.send(profileForm, { fields: card }));
  const entered = readFormFields(filled, profile);
  expect(entered['card_body']?.replaceAll('\r\n', '\n')).toBe(card.card_body);
  expect(entered).toMatchObject(skills);
});

test('a form whose address is no page is shown on the page that it came from', async () => {
  const ada = await visitor();
  const blocks = `${ada.agent}/blocks`;
  const account = await ada.browser.go('/console/account');
  const name = findForm(account, '/console/account/name');
  await expireSession(ada);
  const headers = { Referer: `${setup.service.url}/console/account` };
  const refused = await ada.browser.send(name, { fields: { display_name: 'Ada L.' }, headers });
  const shown = await signInAgain(ada, refused);
  expect(readFormFields(shown, '/console/account/name')['display_name']).toBe('Ada L.');
  // Without the address of the page, the home page.
  await expireSession(ada);
  const withoutPage = await ada.browser.send(fillForm(account, `${blocks}/end`));
  expect((await signInAgain(ada, withoutPage)).status).toBe(200);
});

test('wrong passwords, and a session that ends again, lose nothing', async () => {
  const ada = await visitor();
  const action = `${ada.agent}/webhooks/new`;
  const form = findForm(await ada.browser.go(action), action);
  await expireSession(ada);
  const refused = await ada.browser.send(form, { fields: { url: 'https://example.com/' } });
  const { username } = ada;
  const wrong = await ada.browser.send(findForm(refused, '/sign-in'), {
    fields: { username, password: 'wrong' },
  });
  expect(wrong.visibleText).toContain('Wrong username or password.');
  const signedIn = await ada.browser.send(findForm(wrong, '/sign-in'), { fields: { username, password } });
  await expireSession(ada);
  const refusedAgain = await ada.browser.send(findForm(signedIn, '/console/kept-form'));
  expect(refusedAgain.status).toBe(403);
  const shown = await signInAgain(ada, refusedAgain);
  expect(readFormFields(shown, action)['url']).toBe('https://example.com/');
});

describe('forms of others', () => {
  test.each([{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }])(
    'one with %j is refused without a sign-in form',
    async (headers) => {
      const ada = await visitor();
      const action = `${ada.agent}/webhooks/new`;
      const form = findForm(await ada.browser.go(action), action);
      await expireSession(ada);
      const fields = { url: 'https://evil.example/' };
      const refused = await ada.browser.send(form, { fields, headers });
      expect([refused.status, refused.forms]).toEqual([403, []]);
      expect(refused.visibleText).toContain('This form was not accepted. It was sent from another site.');
    },
  );

  test('only a form of this session shows a kept form', async () => {
    const [ada, eve] = [await visitor(), await visitor()];
    const page = await eve.browser.go('/console');
    const kept = pack({ page: '/console/agents/new', action: '/console/agents/new', fields: 'name=x' });
    const foreign = fillForm(page, '/console/kept-form', { kept });
    expect((await ada.browser.send(foreign)).status).toBe(403);
    const headers = { Origin: 'https://evil.example' };
    const own = fillForm(await ada.browser.go('/console'), '/console/kept-form', { kept });
    expect((await ada.browser.send(own, { headers })).status).toBe(403);
    expect((await ada.browser.send(own)).status).toBe(200);
  });

  const pack = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const fields = 'name=x';
  const action = '/console/agents/new';

  test.each([
    ['nothing', '', 400],
    ['no base64', '%%%', 400],
    ['another shape', pack({ page: 1 }), 400],
    ['a page of another site', pack({ page: 'https://evil.example/', action, fields }), 200],
    ['a path of another site', pack({ page: '//evil.example/', action, fields }), 200],
    ['a path of the API', pack({ page: '/v1/agents/me', action, fields }), 200],
    ['a page that does not exist', pack({ page: '/console/nothing', action, fields }), 404],
    ['its own path', pack({ page: '/console/kept-form', action, fields }), 405],
  ])('a kept form with %s has a clear answer', async (_name, kept, status) => {
    const { browser } = await visitor();
    const form = fillForm(await browser.go('/console'), '/console/kept-form', { kept });
    const answer = await browser.send(form);
    expect([answer.status, new URL(answer.url).origin]).toEqual([status, new URL(setup.service.url).origin]);
    expect(answer.headers.get('Content-Type')).toBe('text/html; charset=utf-8');
  });
});
