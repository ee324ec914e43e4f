import { describe, expect, test } from 'vitest';
import { openFormBrowser } from '../../clients/form-browser.ts';
import {
  programRequest,
  openConsentPage,
  submitConsent,
  registerApp,
  readShownRequest,
  readTokens,
  readRedirectParams,
} from '../../clients/oauth/app.ts';
import { clientSecretBasic, password, postForm, useAuthorizationServer } from './authorization-server.ts';

const authority = useAuthorizationServer();

const four = 'contacts:read contacts:write threads:read threads:write';
const agentBehind = async (token: string, audience: 'api' | 'mcp' | 'ws' = 'api') =>
  (await authority.tokens.verify(token, audience)).agent_id;

test('a person lets an app act as an agent: request, decision, code, tokens', async () => {
  const who = await authority.person();
  const app = await registerApp(authority.url);
  const answer = await app.approved(who);
  expect(Object.fromEntries(answer)).toEqual({
    code: expect.any(String),
    state: app.state,
    iss: authority.url,
  });
  const exchanged = await app.exchange(answer.get('code') ?? '');
  expect(exchanged.headers.get('cache-control')).toBe('no-store');
  const tokens = readTokens(exchanged);
  expect(tokens).toEqual({
    access_token: expect.any(String),
    refresh_token: expect.any(String),
    expires_in: 900,
    scope: four,
    token_type: 'Bearer',
  });
  for (const audience of ['api', 'mcp', 'ws'] as const) {
    expect(await authority.tokens.verify(tokens.access_token, audience)).toMatchObject({
      agent_id: who.agent.id,
      handle: who.agent.canonical_handle,
      client_id: app.client_id,
      resource: authority.url,
    });
  }
  const credential = await authority.credential(who.agent.canonical_handle);
  const { json } = await postForm(
    `${authority.url}/introspect`,
    { token: tokens.access_token },
    clientSecretBasic(credential),
  );
  expect(json).toMatchObject({
    active: true,
    sub: who.agent.id,
    handle: who.agent.canonical_handle,
    client_id: app.client_id,
    scope: four,
  });
});

test('the person sees the request of the app unchanged', async () => {
  const app = await registerApp(authority.url, {
    client_name: 'Desk\u202Etop\n  app ',
    client_uri: 'https://app.example/about',
    logo_uri: 'https://app.example/logo.png',
    redirect_uris: ['https://app.example/callback', 'http://127.0.0.1/callback', 'cursor://anywhere/x'],
  });
  const shown = (over: Record<string, string>) =>
    readShownRequest(openFormBrowser(authority.url), app.address(over));
  const { path, request } = await shown({ resource: authority.resources.mcp, scope: 'threads:read' });
  expect(request).toEqual({
    uid: path.replace('/authorize/requests/', ''),
    client: {
      client_id: app.client_id,
      name: 'Desktop app',
      uri: 'https://app.example/about',
      redirect_host: 'app.example',
      kind: 'registered',
      loopback: false,
      unknown_scheme: false,
    },
    scopes: ['threads:read'],
    audience: 'mcp',
    resource: authority.resources.mcp,
  });
  expect(await shown({ redirect_uri: 'http://127.0.0.1:4312/callback' })).toMatchObject({
    request: {
      client: { redirect_host: '127.0.0.1:4312', loopback: true },
      audience: 'service',
    },
  });
  expect(await shown({ redirect_uri: 'cursor://anywhere/x' })).toMatchObject({
    request: { client: { redirect_host: 'cursor:', loopback: false, unknown_scheme: false } },
  });
});

describe('the decision of the person', () => {
  test('is made for each request, and can choose another agent for the same app', async () => {
    const who = await authority.person();
    const second = await authority.agent(who.username, 'second');
    const app = await registerApp(authority.url);
    const browser = openFormBrowser(authority.url);
    const chosen = [];
    for (const agent of [who.agent, second, who.agent]) {
      const answer = await app.approved({ ...who, agent }, {}, browser);
      const { access_token } = readTokens(await app.exchange(answer.get('code') ?? ''));
      chosen.push([await agentBehind(access_token), agent.id]);
    }
    for (const [acting, wanted] of chosen) expect(acting).toBe(wanted);
  });

  test('to deny is reported to the app, which gets no code', async () => {
    const app = await registerApp(authority.url);
    const browser = openFormBrowser(authority.url);
    const page = await openConsentPage(browser, app.address(), await authority.person());
    const answer = readRedirectParams(await submitConsent(browser, page, 'cancel'));
    expect(Object.fromEntries(answer)).toEqual({
      error: 'access_denied',
      error_description: expect.any(String),
      state: app.state,
      iss: authority.url,
    });
  });

  test('is about own agents only; agents of others look absent', async () => {
    const [who, other] = [await authority.person(), await authority.person()];
    const app = await registerApp(authority.url);
    const refusals = [];
    for (const agent_id of [other.agent.id, 'agt_01HZZZZZZZZZZZZZZZZZZZZZZZ', 'nonsense', '']) {
      const browser = openFormBrowser(authority.url);
      const page = await openConsentPage(browser, app.address(), who);
      const answer = await submitConsent(browser, page, 'approve', agent_id);
      refusals.push([answer.status, answer.headers.get('Location'), answer.visibleText]);
    }
    expect(refusals[0]?.[1]).toBeNull();
    expect(new Set(refusals.map((refusal) => JSON.stringify(refusal))).size).toBe(1);
    const rows = await authority.sql(`select 1 from client_grants where account_id = $1`, [who.account_id]);
    expect(rows).toEqual([]);
  });

  test('is accepted once, in the browser that started the request', async () => {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    const [mine, other] = [openFormBrowser(authority.url), openFormBrowser(authority.url)];
    const page = await openConsentPage(mine, app.address(), who);
    await openConsentPage(other, app.address(), who);
    const address = new URL(page.url).pathname;
    expect((await other.go(address)).status).toBe(404);
    const resume = address.replace('/requests', '');
    expect((await other.go(resume)).status).toBe(404);
    // Nor is it at the address of another request, whatever cookies come along.
    for (const [name, cookie] of mine.cookies) mine.cookies.set(name, { ...cookie, path: '/' });
    expect((await mine.go('/authorize/requests/another')).status).toBe(404);
    expect(
      readRedirectParams(await submitConsent(mine, page, 'approve', who.agent.id)).get('code'),
    ).not.toBeNull();
    // Only the person who decided sees what was decided.
    for (const place of [address, resume]) {
      const outcome = await mine.go(place);
      expect([outcome.status, outcome.title]).toEqual([
        200,
        expect.stringContaining('You approved this request'),
      ]);
      expect(outcome.visibleText).toContain(`An app may act as @${who.agent.canonical_handle}.`);
      const stranger = openFormBrowser(authority.url);
      const { username } = await authority.person();
      await stranger.signIn(username, password);
      expect((await stranger.go(place)).status).toBe(404);
      expect((await openFormBrowser(authority.url).go(place)).status).toBe(404);
    }
  });

  test('does not leave a session at the authorization server', async () => {
    const who = await authority.person();
    const browser = openFormBrowser(authority.url);
    const app = await registerApp(authority.url);
    await app.approved(who, {}, browser);
    const names = [...browser.cookies.keys()];
    // `ams_session` and `ams_known` are those of the pages.
    expect(names.filter((name) => !/^ams_((request|resume)(\.sig)?|session|known)$/.test(name))).toEqual([]);
    expect(await authority.sql(`select 1 from oauth_records where model = 'Session'`)).toEqual([]);
  });
});

test('the person is asked for every value of prompt; prompt=none returns an error instead of a code', async () => {
  const app = await registerApp(authority.url);
  for (const prompt of ['login', 'consent', 'login consent', 'select_account', 'create']) {
    const page = await openFormBrowser(authority.url).go(app.address({ prompt }), { follow: false });
    expect(page.headers.get('Location')).toContain('/authorize/requests/');
  }
  const browser = openFormBrowser(authority.url);
  await app.approved(await authority.person(), {}, browser);
  const answer = await browser.go(app.address({ prompt: 'none' }), programRequest);
  const words = readRedirectParams(answer);
  expect(words.get('error')).toMatch(/^(login|consent)_required$/);
  expect([words.get('code'), words.get('iss'), words.get('state')]).toEqual([null, authority.url, app.state]);
});

test('parameters of OpenID Connect are ignored; others that would change the request are refused', async () => {
  const app = await registerApp(authority.url);
  const openId = {
    nonce: 'n',
    max_age: '0',
    acr_values: 'a',
    claims: '{}',
    display: 'page',
    id_token_hint: 'x',
  };
  const page = await openFormBrowser(authority.url).go(app.address({ ...openId, unheard_of: 'x' }), {
    follow: false,
  });
  expect(page.headers.get('Location')).toContain('/authorize/requests/');
  const cases = {
    request: ['e30.e30.', 'request_not_supported'],
    request_uri: ['https://app.example/request', 'request_uri_not_supported'],
    response_mode: ['form_post', 'unsupported_response_mode'],
    response_type: ['token', 'unsupported_response_type'],
  };
  for (const [name, [value = '', error]] of Object.entries(cases)) {
    const answer = await openFormBrowser(authority.url).go(app.address({ [name]: value }), programRequest);
    const address = answer.headers.get('Location') ?? '';
    expect(address).toMatch(app.redirect_uri);
    // The error for an implicit client is in the fragment (RFC 6749, section 4.2.2.1).
    expect(new URLSearchParams(address.split(/[?#]/)[1]).get('error')).toBe(error);
  }
});

describe('redirect addresses', () => {
  test('on loopback are valid at any port', async () => {
    const who = await authority.person();
    for (const host of ['127.0.0.1', '[::1]', 'localhost']) {
      const app = await registerApp(authority.url, { redirect_uris: [`http://${host}/callback`] });
      for (const port of [1024, 51_000]) {
        const redirect_uri = `http://${host}:${port}/callback`;
        const tokens = await app.connect(who, { redirect_uri });
        expect(await agentBehind(tokens.access_token)).toBe(who.agent.id);
      }
    }
  });

  test('on loopback are valid at any port also beside other addresses', async () => {
    const app = await registerApp(authority.url, {
      redirect_uris: ['https://editor.example/redirect', 'http://127.0.0.1/', 'http://127.0.0.1:33418/'],
    });
    const answer = await app.approved(await authority.person(), { redirect_uri: 'http://127.0.0.1:50123/' });
    expect(answer.get('code')).not.toBeNull();
  });

  test('can have a private scheme', async () => {
    const app = await registerApp(authority.url, { redirect_uris: ['com.example.app:/oauth'] });
    expect((await app.approved(await authority.person())).get('code')).not.toBeNull();
  });
});

describe('scope', () => {
  test('without a value has the four default scopes', async () => {
    const app = await registerApp(authority.url);
    const who = await authority.person();
    expect((await app.connect(who, { scope: null })).scope).toBe(four);
    expect((await app.connect(who, { scope: '' })).scope).toBe(four);
  });

  test.each([
    ['openid email profile', four],
    ['openid', four],
    ['mcp:tools', four],
    ['claudeai', four],
    ['threads:*', four],
    ['threads:read offline_access', 'threads:read'],
    ['threads:read whatever', 'threads:read'],
    ['agents:read  "é', 'agents:read'],
  ])('with unknown values is granted without them: %s', async (scope, granted) => {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    const browser = openFormBrowser(authority.url);
    const { request } = await readShownRequest(browser, app.address({ scope }));
    expect(request).toMatchObject({ scopes: granted.split(' ') });
    const tokens = await app.connect(who, { scope });
    expect(tokens.scope).toBe(granted);
    // Some clients send the same text again with each refresh.
    const next = readTokens(await app.refresh(tokens.refresh_token, { scope }));
    expect(next.scope).toBe(granted);
  });
});
