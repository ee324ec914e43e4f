import { describe, expect, test } from 'vitest';
import { openFormBrowser, findForm } from '../../clients/form-browser.ts';
import {
  programRequest,
  registerApp,
  createPkcePair,
  register,
  readTokens,
  openConsentPage,
  submitConsent,
  readRedirectParams,
} from '../../clients/oauth/app.ts';
import {
  type AuthorizationServer,
  clientSecretBasic,
  revokedTokenMessage,
  postForm,
  useAuthorizationServer,
} from './authorization-server.ts';

const authority = useAuthorizationServer();

const verdict: AuthorizationServer['verifyToken'] = (token, audience) =>
  authority.verifyToken(token, audience);
const visit = (address: string) =>
  openFormBrowser(authority.url).go(address, { follow: false, ...programRequest });
const codeFor = async (app: Awaited<ReturnType<typeof registerApp>>) =>
  (await app.approved(await authority.person())).get('code') ?? '';

describe('PKCE', () => {
  test('is required, and only with S256', async () => {
    const app = await registerApp(authority.url);
    for (const over of [
      { code_challenge: null, code_challenge_method: null },
      { code_challenge: null },
      { code_challenge: '' },
      { code_challenge_method: 'plain' },
      { code_challenge_method: null },
      { code_challenge_method: 's256' },
      { code_challenge: 'short' },
    ]) {
      const answer = await visit(app.address(over));
      const told = new URL(answer.headers.get('Location') ?? '').searchParams;
      expect([told.get('error'), told.get('code'), told.get('iss'), told.get('state')]).toEqual([
        'invalid_request',
        null,
        authority.url,
        app.state,
      ]);
      expect(told.get('error_description')).toMatch(/PKCE|code_challenge/);
    }
  });

  test('rejects a code without the verifier, or with the challenge in its place', async () => {
    const { verifier, challenge } = createPkcePair();
    for (const code_verifier of [
      [],
      'short',
      createPkcePair().verifier,
      challenge,
      verifier.slice(0, -1),
      `${verifier}a`,
    ]) {
      const app = await registerApp(authority.url);
      const answer = await app.approved(await authority.person(), { code_challenge: challenge });
      const exchanged = await app.exchange(answer.get('code') ?? '', { code_verifier });
      expect(exchanged.status).toBe(400);
      expect(exchanged.json.error).toMatch(/^invalid_(grant|request)$/);
    }
  });
});

describe('codes', () => {
  test('are refused at a second use, which revokes the tokens of the first', async () => {
    const app = await registerApp(authority.url);
    const code = await codeFor(app);
    const tokens = readTokens(await app.exchange(code));
    expect(await verdict(tokens.access_token)).toBe('good');
    const again = await app.exchange(code);
    expect([again.status, again.json.error]).toEqual([400, 'invalid_grant']);
    expect(again.json['error_description']).toMatch(/used.+Sign in again/);
    await expect.poll(() => verdict(tokens.access_token)).toMatch(revokedTokenMessage);
    expect((await app.refresh(tokens.refresh_token)).json.error).toBe('invalid_grant');
  });

  test('succeed for at most one of many concurrent uses, and its tokens are revoked', async () => {
    for (let round = 0; round < 5; round += 1) {
      const app = await registerApp(authority.url);
      const code = await codeFor(app);
      const answers = await Promise.all(Array.from({ length: 6 }, () => app.exchange(code)));
      const successes = answers.filter(({ status }) => status === 200);
      expect(successes.length).toBeLessThanOrEqual(1);
      for (const success of successes) {
        const tokens = readTokens(success);
        await expect.poll(() => verdict(tokens.access_token)).toMatch(revokedTokenMessage);
        expect((await app.refresh(tokens.refresh_token)).status).toBe(400);
      }
    }
  });

  test('are refused for another client, and stay valid for their own', async () => {
    const [app, thief] = [await registerApp(authority.url), await registerApp(authority.url)];
    const code = await codeFor(app);
    const stolen = await thief.exchange(code, { code_verifier: app.verifier });
    expect([stolen.status, stolen.json.error]).toEqual([400, 'invalid_grant']);
    const agent = await authority.agent();
    const confidential = await authority.credential(agent.canonical_handle);
    const fields = { grant_type: 'authorization_code', code, redirect_uri: app.redirect_uri };
    const other = await postForm(
      `${authority.url}/token`,
      { ...fields, code_verifier: app.verifier },
      clientSecretBasic(confidential),
    );
    expect(other.status).toBe(400);
    expect((await app.exchange(code)).status).toBe(200);
  });

  test('are valid only with the redirect address of their request', async () => {
    const app = await registerApp(authority.url, {
      redirect_uris: ['http://127.0.0.1/callback', 'https://app.example/callback'],
    });
    const code = await codeFor(app);
    for (const redirect_uri of ['https://app.example/callback', 'http://127.0.0.1:1/callback']) {
      expect((await app.exchange(code, { redirect_uri })).json.error).toBe('invalid_grant');
    }
    expect((await app.exchange(code)).status).toBe(200);
  });

  test('end after a minute', async () => {
    const app = await registerApp(authority.url);
    const code = await codeFor(app);
    await authority.sql(
      `update oauth_records set payload = jsonb_set(payload, '{exp}', to_jsonb(1)) where model = 'AuthorizationCode'
       and payload->>'clientId' = $1`,
      [app.client_id],
    );
    expect((await app.exchange(code)).json.error).toBe('invalid_grant');
    const [row] = await authority.sql<{ life: number }>(
      `select (expires_at - $1)::float8 as life from oauth_records where model = 'AuthorizationCode' and payload->>'clientId' = $2`,
      [Date.now(), app.client_id],
    );
    expect(row?.life).toBeLessThanOrEqual(60_000);
  });

  test('are not used up by a request for an unknown resource', async () => {
    const app = await registerApp(authority.url);
    const code = await codeFor(app);
    const { mcp, api } = authority.resources;
    for (const resource of ['https://elsewhere.example/mcp', 'x', [mcp, api]]) {
      expect((await app.exchange(code, { resource })).json.error).toBe('invalid_target');
    }
    expect((await app.exchange(code, { resource: mcp })).status).toBe(200);
  });
});

describe('clients that register themselves', () => {
  test('can neither request nor use the grant client_credentials', async () => {
    for (const grant_types of [['client_credentials'], ['authorization_code', 'client_credentials']]) {
      const { status, json } = await register(authority.url, {
        grant_types,
        redirect_uris: ['http://127.0.0.1/'],
      });
      expect([status, json['error']]).toEqual([400, 'invalid_client_metadata']);
      expect(json['error_description']).toContain('console');
    }
    const app = await registerApp(authority.url);
    const fields = { grant_type: 'client_credentials', client_id: app.client_id };
    const answer = await postForm(`${authority.url}/token`, fields);
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_request']);
    const withSecret = await postForm(`${authority.url}/token`, { ...fields, client_secret: 'x' });
    expect(withSecret.status).toBe(401);
  });

  test('cannot choose an agent by themselves', async () => {
    const agent = await authority.agent();
    for (const field of ['agent_id', 'agent_handle', 'agent_scopes']) {
      const { status, json } = await register(authority.url, {
        redirect_uris: ['http://127.0.0.1/'],
        [field]: agent.id,
      });
      expect([status, json['error']]).toEqual([400, 'invalid_client_metadata']);
    }
  });
});

describe('other clients', () => {
  test('can neither revoke nor introspect a token of another app', async () => {
    const app = await registerApp(authority.url);
    const who = await authority.person();
    const tokens = await app.connect(who);
    const thief = await registerApp(authority.url);
    const stranger = await authority.credential((await authority.agent()).canonical_handle);
    for (const token of [tokens.access_token, tokens.refresh_token]) {
      expect((await thief.revoke(token)).status).toBe(200);
      expect((await postForm(`${authority.url}/revoke`, { token }, clientSecretBasic(stranger))).status).toBe(
        200,
      );
      expect(
        (await postForm(`${authority.url}/introspect`, { token }, clientSecretBasic(stranger))).json,
      ).toEqual({
        active: false,
      });
    }
    expect(await verdict(tokens.access_token)).toBe('good');
    expect((await app.refresh(tokens.refresh_token)).status).toBe(200);
  });

  test('cannot use a refresh token of an app, and trying does not revoke it', async () => {
    const app = await registerApp(authority.url);
    const { refresh_token } = await app.connect(await authority.person());
    const thief = await registerApp(authority.url);
    expect((await thief.refresh(refresh_token)).json.error).toBe('invalid_grant');
    expect((await app.refresh(refresh_token)).status).toBe(200);
  });

  test('a client that cannot authenticate cannot introspect even its own token', async () => {
    const app = await registerApp(authority.url);
    const { access_token } = await app.connect(await authority.person());
    for (const token of [access_token, 'x']) {
      const answer = await postForm(`${authority.url}/introspect`, { token, client_id: app.client_id });
      expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client']);
    }
  });
});

describe('the decision of a person', () => {
  test('pressed twice shows the outcome of the first press', async () => {
    const who = await authority.person();
    for (const [button, title] of [
      ['approve', 'You approved this request'],
      ['cancel', 'You denied this request'],
    ] as const) {
      const app = await registerApp(authority.url);
      const browser = openFormBrowser(authority.url);
      const page = await openConsentPage(browser, app.address(), who);
      const first = readRedirectParams(await submitConsent(browser, page, button, who.agent.id));
      for (const again of ['approve', 'cancel'] as const) {
        const second = await submitConsent(browser, page, again, who.agent.id);
        expect([second.status, second.headers.get('Location')]).toEqual([200, null]);
        expect(second.title).toContain(title);
      }
      const code = first.get('code');
      if (code !== null) expect((await app.exchange(code)).status).toBe(200);
    }
  });

  test('pressed twice before the browser has left leads on to the app', async () => {
    const who = await authority.person();
    const app = await registerApp(authority.url);
    const browser = openFormBrowser(authority.url);
    const page = await openConsentPage(browser, app.address(), who);
    const form = findForm(page, new URL(page.url).pathname);
    const press = () =>
      browser.send(form, { button: 'approve', fields: { agent_id: who.agent.id }, follow: false });
    const first = await press();
    const second = await press();
    const resume = second.headers.get('Location') ?? '';
    expect([first.status, second.status, resume]).toEqual([303, 303, first.headers.get('Location')]);
    const code = readRedirectParams(await browser.go(resume)).get('code') ?? '';
    expect((await app.exchange(code)).status).toBe(200);
    expect(
      await authority.sql('select 1 from client_grants where account_id = $1', [who.account_id]),
    ).toHaveLength(1);
  });
});
