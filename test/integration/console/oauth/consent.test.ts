import { describe, expect, test } from 'vitest';
import { findForm, type PageResponse, type FormBrowser } from '../../../clients/form-browser.ts';
import { type OAuthApp, registerApp, readTokens } from '../../../clients/oauth/app.ts';
import { createAgentFor, newUsername, password, useConsole } from '../setup.ts';

const setup = useConsole();

const expiredRequestText = 'This request is no longer valid';
const approvedText = 'You approved this request';
const consentForm = (page: PageResponse) => findForm(page, new URL(page.url).pathname);

/** The parameters that the app receives at its redirect address. */
function readRedirect(answer: PageResponse): URLSearchParams {
  expect(answer.status).toBe(303);
  return new URL(answer.headers.get('Location') ?? '').searchParams;
}

/** Follows an app's authorization request to the consent page. */
async function ask(browser: FormBrowser, app: OAuthApp, scope?: string): Promise<PageResponse> {
  return browser.go(app.address(scope === undefined ? {} : { scope }));
}

async function personWithAgents(...names: string[]) {
  const { username, browser } = await setup.signUpPerson();
  const agents = [];
  for (const name of names) agents.push(await createAgentFor(setup.service, username, name));
  return { username, browser, agents };
}

describe('letting an app act as an agent', () => {
  test('from the start: an account, a first agent, approval, code, token, a call', async () => {
    const app = await registerApp(setup.service.url, {
      client_name: 'Quill',
      redirect_uris: ['http://127.0.0.1/callback'],
    });
    const browser = setup.browser();
    const signIn = await ask(browser, app);
    expect(new URL(signIn.url).pathname).toBe('/sign-in');

    const to = new URL(signIn.url).searchParams.get('to') ?? '';
    const username = newUsername();
    const first = await browser.signUp(username, password, to);
    expect(first.visibleText).toContain('You need an agent first');
    const made = await browser.send(consentForm(first), { fields: { name: 'writer' }, button: 'create' });
    expect(made.visibleText).toContain(`Created @${username}.writer.`);

    const answer = readRedirect(await browser.send(consentForm(made), { button: 'approve' }));
    expect(answer.get('state')).toBe(app.state);
    const tokens = readTokens(await app.exchange(answer.get('code') ?? ''));
    const me = await setup.service.get({ token: tokens.access_token }, '/agents/me');
    expect(me.body).toMatchObject({ canonical_handle: `${username}.writer` });
  });

  test('as the selected agent, which is preselected and marked next time', async () => {
    const { browser, agents } = await personWithAgents('first', 'second', 'third');
    const app = await registerApp(setup.service.url);
    const page = await ask(browser, app);
    expect(page.visibleText).not.toContain('Approved before');
    expect(new Map(consentForm(page).fields).get('agent_id')).toBeUndefined();
    const agent_id = agents[1]?.id ?? '';
    const answer = readRedirect(
      await browser.send(consentForm(page), { fields: { agent_id }, button: 'approve' }),
    );
    const tokens = readTokens(await app.exchange(answer.get('code') ?? ''));
    const me = await setup.service.get({ token: tokens.access_token }, '/agents/me');
    expect(me.body).toMatchObject({ id: agent_id });

    const again = await ask(browser, app);
    expect(again.visibleText).toMatch(/second Approved before/);
    expect(new Map(consentForm(again).fields).get('agent_id')).toBe(agent_id);
    const other = await ask(browser, await registerApp(setup.service.url));
    expect(other.visibleText).not.toContain('Approved before');
  });

  test('as one of many agents, which can be searched', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `agent-${index}`);
    const { username, browser } = await personWithAgents(...names);
    const page = await ask(browser, await registerApp(setup.service.url));
    expect(page.visibleText.match(/@\S+\.agent-\d/g)).toHaveLength(10);
    const search = async (permission: string) => {
      const query = new URLSearchParams({ search: permission }).toString();
      return browser.go(`${new URL(page.url).pathname}?${query}`);
    };
    const found = await search(` @${username}.AGENT-7`);
    expect(found.visibleText.match(/@\S+\.agent-\d/g)).toEqual([`@${username}.agent-7`]);
    expect((await search('nothing of the kind')).visibleText).toContain('No matching agents');
    const chosen = found.elements('input').find(({ attribs }) => attribs['type'] === 'radio');
    const answer = readRedirect(await browser.approve(found, chosen?.attribs['value']));
    expect(answer.get('code')).toMatch(/./);
  });

  test('the app receives a refusal', async () => {
    const { browser } = await personWithAgents('writer');
    const app = await registerApp(setup.service.url);
    const answer = readRedirect(
      await browser.send(consentForm(await ask(browser, app)), { button: 'cancel' }),
    );
    expect(Object.fromEntries(answer)).toMatchObject({ error: 'access_denied', state: app.state });
    expect((await browser.go('/console')).visibleText).toContain('Connect an app');
  });

  test('after a sign-in as another person', async () => {
    const first = await personWithAgents('writer');
    const second = await personWithAgents('reader');
    const page = await ask(first.browser, await registerApp(setup.service.url));
    const signIn = await first.browser.send(findForm(page, '/sign-out'));
    const fields = { username: second.username, password };
    const shown = await first.browser.send(findForm(signIn), { fields });
    expect(shown.url).toBe(page.url);
    expect(shown.visibleText).toContain(`@${second.username}.reader`);
    expect(shown.visibleText).not.toContain(first.username);
  });
});

describe('the page', () => {
  test.each([
    ['http://127.0.0.1:7777/cb', 'A program on this computer', '127.0.0.1:7777'],
    ['https://chat.example/cb', 'The operator of chat.example', 'chat.example'],
    ['http://[::1]:7777/cb', 'A program on this computer', '[::1]:7777'],
  ])('says where the answer to %s goes', async (redirect_uri, permission, host) => {
    const { browser } = await personWithAgents('writer');
    const app = await registerApp(setup.service.url, { client_name: 'Quill', redirect_uris: [redirect_uri] });
    const page = await ask(browser, app);
    expect(page.status).toBe(200);
    expect(page.visibleText).toContain('Claims to beQuillNot verified');
    expect(page.visibleText).toContain(permission);
    expect(page.visibleText).toContain(host);
    // The address may redirect to anywhere, and browsers check each step.
    expect(page.headers.get('Content-Security-Policy')).not.toContain('form-action');
    expect(page.headers.get('X-Frame-Options')).toBe('DENY');
  });

  test('lists the permissions of the app in plain words, and no others', async () => {
    const { browser } = await personWithAgents('writer');
    const app = await registerApp(setup.service.url);
    const little = await ask(browser, app, 'threads:read');
    expect(little.visibleText).toContain('Read its messages');
    expect(little.visibleText).not.toContain('Send messages as it');
    expect(little.visibleText).not.toContain('Change its profile');
    expect(little.visibleText).toContain('Approval coversMCP, REST API, and WebSocket');
    const much = await ask(browser, app, 'agents:write threads:write contacts:write realtime:read');
    expect(much.visibleText).toMatch(
      /Manage your agents.*Send messages as it.*Change its contacts.*Receive events live.*Change its profile/,
    );
  });

  test('escapes hostile names', async () => {
    const { username, browser } = await setup.signUpPerson();
    const display_name = '"><script>alert(1)</script><img src=x onerror=alert(2)>';
    await createAgentFor(setup.service, username, 'writer', display_name);
    const client_name = '</strong><form action="https://evil.example"><button>Approve</button>';
    const app = await registerApp(setup.service.url, { client_name, redirect_uris: ['http://127.0.0.1/cb'] });
    const page = await ask(browser, app);
    expect(page.visibleText).toContain(client_name);
    expect(page.visibleText).toContain(display_name);
    expect(page.elements('script')).toEqual([]);
    expect(page.elements('img')).toHaveLength(1);
    expect(page.forms.filter(({ action }) => !action.startsWith('/'))).toEqual([]);
    const home = await browser.go('/console');
    expect(home.visibleText).toContain(display_name);
    expect(home.elements('script').filter(({ attribs }) => attribs['src'] === undefined)).toEqual([]);
  });
});

describe('an invalid choice', () => {
  test.each([
    ['of another person’s agent', () => personWithAgents('theirs').then(({ agents }) => agents[0]?.id)],
    ['of an agent that does not exist', () => Promise.resolve('agt_01M7ZXKBN7SNFAET8A79TMDQ0A')],
    ['of an invalid id', () => Promise.resolve("' or 1=1")],
    ['of nothing', () => Promise.resolve(undefined)],
  ])('is shown again: %s', async (_what, theirs) => {
    const { browser, agents } = await personWithAgents('one', 'two');
    const page = await ask(browser, await registerApp(setup.service.url));
    const agent_id = (await theirs()) ?? null;
    const refused = await browser.send(consentForm(page), { fields: { agent_id }, button: 'approve' });
    expect(refused.status).toBe(400);
    expect(refused.visibleText).toContain('Choose one of your agents.');
    const fields = { agent_id: agents[0]?.id ?? '' };
    const answer = readRedirect(await browser.send(consentForm(refused), { fields, button: 'approve' }));
    expect(answer.get('code')).toMatch(/./);
  });

  test('is shown again: an agent that was retired meanwhile', async () => {
    const { browser, agents } = await personWithAgents('gone', 'there');
    const page = await ask(browser, await registerApp(setup.service.url));
    const { id: agent_id = '', handle = '' } = agents[0] ?? {};
    const token = await setup.service.token(handle, { scopes: ['agents:write'] });
    await setup.service.delete({ token }, `/agents/${agent_id}`);
    const refused = await browser.send(consentForm(page), { fields: { agent_id }, button: 'approve' });
    expect([refused.status, refused.visibleText.includes('gone')]).toEqual([400, false]);
  });

  test('is shown again: no decision', async () => {
    const { browser } = await personWithAgents('writer');
    const form = consentForm(await ask(browser, await registerApp(setup.service.url)));
    const answer = await browser.send({ ...form, buttons: [] });
    expect([answer.status, answer.visibleText.includes('Press Approve or Cancel.')]).toEqual([400, true]);
  });

  test('is shown again: an invalid name of a first agent', async () => {
    const { browser } = await setup.signUpPerson();
    const page = await ask(browser, await registerApp(setup.service.url));
    const answer = await browser.send(consentForm(page), { fields: { name: 'No name!' }, button: 'create' });
    expect(answer.status).toBe(400);
    expect(answer.visibleText).toContain('Handle has 1 to 32 of a-z');
    expect(new Map(consentForm(answer).fields).get('name')).toBe('No name!');
  });
});

describe('an expired request', () => {
  test('does not exist', async () => {
    const { browser } = await setup.signUpPerson();
    for (const uid of ['nothing', 'x'.repeat(200), '..%2f..', '%00']) {
      const answer = await browser.go(`/authorize/requests/${uid}`);
      expect([uid, answer.status]).toEqual([uid, 404]);
      expect(answer.elements('h1')).toHaveLength(1);
    }
  });

  test('was already decided: the form is sent again', async () => {
    const { browser } = await personWithAgents('writer');
    const page = await ask(browser, await registerApp(setup.service.url));
    const form = consentForm(page);
    expect(readRedirect(await browser.send(form, { button: 'approve' })).get('code')).toMatch(/./);
    for (const button of ['approve', 'cancel']) {
      const answer = await browser.send(form, { button });
      expect([answer.status, answer.visibleText.includes(approvedText)]).toEqual([200, true]);
    }
    expect((await browser.go(page.url)).visibleText).toContain(approvedText);
  });

  test('decided several times concurrently: the first decision counts, and one code is issued', async () => {
    const { browser } = await personWithAgents('writer');
    const form = consentForm(await ask(browser, await registerApp(setup.service.url)));
    const answers = await Promise.all([1, 2, 3].map(() => browser.send(form, { button: 'approve' })));
    expect(answers.filter(({ status }) => ![303, 200].includes(status))).toEqual([]);
    const codes = answers.flatMap(({ headers }) => {
      const location = headers.get('Location');
      return location === null ? [] : (new URL(location).searchParams.get('code') ?? []);
    });
    expect(codes).toHaveLength(1);
    const connected = await browser.go('/console/connections');
    expect(connected.visibleText.match(/Disconnect\b/g)).toHaveLength(1);
  });

  test('resumed several times concurrently: one code is issued', async () => {
    const { browser } = await personWithAgents('writer');
    const form = consentForm(await ask(browser, await registerApp(setup.service.url)));
    const decided = await browser.send(form, { button: 'approve', follow: false });
    const way = decided.headers.get('Location') ?? '';
    const answers = await Promise.all([1, 2, 3, 4].map(() => browser.go(way)));
    expect(answers.filter(({ status }) => status === 303)).toHaveLength(1);
    for (const late of answers.filter(({ status }) => status !== 303)) {
      expect([late.status, late.visibleText.includes(approvedText)]).toEqual([200, true]);
    }
  });

  test('belongs to another browser', async () => {
    const first = await personWithAgents('writer');
    const page = await ask(first.browser, await registerApp(setup.service.url));
    const other = await personWithAgents('reader');
    for (const browser of [other.browser, setup.browser()]) {
      expect((await browser.go(page.url)).visibleText).toContain(expiredRequestText);
    }
    const form = findForm(await other.browser.go('/console'), '/sign-out');
    const sent = { ...form, action: new URL(page.url).pathname };
    const answer = await other.browser.send(sent, { fields: { decision: 'approve' } });
    expect(answer.visibleText).toContain(expiredRequestText);
  });

  test('has expired', async () => {
    const { browser } = await personWithAgents('writer');
    const page = await ask(browser, await registerApp(setup.service.url));
    const text = `delete from oauth_records where model = 'Interaction'`;
    await setup.service.sql(text);
    const answer = await browser.send(consentForm(page), { button: 'approve' });
    expect([answer.status, answer.visibleText.includes(expiredRequestText)]).toEqual([404, true]);
  });

  test('cannot be decided after signing out', async () => {
    const { browser } = await personWithAgents('writer');
    const page = await ask(browser, await registerApp(setup.service.url));
    await browser.signOut();
    expect((await browser.send(consentForm(page), { button: 'approve' })).status).toBe(403);
    const signIn = findForm(await browser.go(page.url), '/sign-in');
    expect(new Map(signIn.fields).get('to')).toBe(new URL(page.url).pathname);
  });
});

test('an invalid authorization request gets an error page of the service', async () => {
  const browser = setup.browser();
  const answer = await browser.go('/authorize?client_id=absent&response_type=code');
  expect(answer.status).toBe(400);
  expect(answer.visibleText).toContain('Unknown app');
  expect(answer.headers.get('Content-Security-Policy')).toContain("frame-ancestors 'none'");
  expect(answer.headers.get('X-Frame-Options')).toBe('DENY');
  expect(answer.visibleText).toContain(answer.headers.get('X-Request-Id'));
});
