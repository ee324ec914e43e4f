import { describe, expect, test } from 'vitest';
import { openFormBrowser } from '../../../clients/form-browser.ts';
import { createApp, registerApp, register } from '../../../clients/oauth/app.ts';
import { startAuthorizationServer, useAuthorizationServer } from '../authorization-server.ts';

const authority = useAuthorizationServer();

const redirect_uris = ['http://127.0.0.1/callback'];
const ask = (metadata: unknown) => register(authority.url, metadata);

describe('a registered client', () => {
  test('is public and uses the code flow, whatever else it requests', async () => {
    const { status, headers, json } = await ask({
      redirect_uris,
      client_name: 'An app',
      client_uri: 'https://app.example/',
      token_endpoint_auth_method: 'private_key_jwt',
      grant_types: ['authorization_code', 'implicit', 'urn:ietf:params:oauth:grant-type:device_code'],
      response_types: ['code', 'token'],
      scope: 'contacts:read openid everything',
      contacts: ['somebody@app.example'],
      logo_uri: 'https://app.example/logo.png',
      jwks_uri: 'https://app.example/keys',
      sector_identifier_uri: 'https://app.example/sector',
      require_auth_time: true,
      default_max_age: 1,
      id_token_signed_response_alg: 'none',
      client_secret: 'mine',
      client_id: 'mine',
      software_id: 'x',
    });
    expect(status).toBe(201);
    expect(headers.get('cache-control')).toBe('no-store');
    expect(json).toEqual({
      client_id: expect.stringMatching(/^app_[0-9a-f]{24}$/),
      client_id_issued_at: expect.any(Number),
      client_name: 'An app',
      client_uri: 'https://app.example/',
      redirect_uris,
      application_type: 'native',
      response_types: ['code'],
      grant_types: ['authorization_code', 'refresh_token'],
      token_endpoint_auth_method: 'none',
    });
    const app = createApp(authority.url, String(json['client_id']), 'http://127.0.0.1:4000/callback');
    const tokens = await app.connect(await authority.person());
    expect(tokens.refresh_token).not.toBe('');
  });

  test('may have null for every member that it could leave out', async () => {
    const members = ['client_name', 'client_uri', 'grant_types', 'response_types', 'scope', 'contacts'];
    members.push(
      'token_endpoint_auth_method',
      'logo_uri',
      'application_type',
      'jwks',
      'client_secret',
      'agent_id',
    );
    const { status, json } = await ask({
      redirect_uris,
      ...Object.fromEntries(members.map((name) => [name, null])),
    });
    expect([status, json['client_name'], json['token_endpoint_auth_method']]).toEqual([
      201,
      undefined,
      'none',
    ]);
  });

  test('needs only a redirect address', async () => {
    const { status, json } = await ask({ redirect_uris: ['https://app.example/callback'] });
    expect([status, json['application_type'], json['client_name']]).toEqual([201, 'web', undefined]);
  });

  test('has a name of visible characters in one line, in reading order', async () => {
    const names = {
      'Plain app': 'Plain app',
      ' \n Two\r\nlines\t ': 'Two lines',
      'Desk\u202Etop\u2066 app\u2069': 'Desktop app',
      'Zero\u200Bwidth\uFEFF': 'Zerowidth',
      'bell\u0007': 'bell',
      ['x'.repeat(300)]: 'x'.repeat(80),
      [`a${'\u0301'.repeat(50)}`]: `\u00E1${'\u0301'.repeat(3)}`,
      'Ünïcödé 客户端': 'Ünïcödé 客户端',
      '\u200B\u202E ': undefined,
      '\u2800': undefined,
      '\uFE0F\u034F\u17B4\u{E0100}': undefined,
      '': undefined,
    };
    for (const [client_name, shown] of Object.entries(names)) {
      const { json } = await ask({ redirect_uris, client_name });
      expect(json['client_name']).toBe(shown);
    }
  });

  test('keeps no home page that is not a web address', async () => {
    for (const client_uri of ['http://app.example', 'javascript:alert(1)', 'app', '']) {
      const { status, json } = await ask({ redirect_uris, client_uri });
      expect([status, json['client_uri']]).toEqual([201, undefined]);
    }
  });
});

test('an invalid registration gets an OAuth error', async () => {
  const cases: unknown[] = [
    '[]',
    '"x"',
    'null',
    '{"redirect_uris":',
    '',
    { redirect_uris, client_name: 1 },
    { redirect_uris, client_uri: {} },
    { redirect_uris, grant_types: 'authorization_code' },
    { redirect_uris, grant_types: ['implicit'] },
    { redirect_uris, response_types: ['token'] },
    { redirect_uris, client_name: 'x'.repeat(100_000) },
    `{"redirect_uris":["https://app.example/"],"__proto__":{"client_id":"x"},"grant_types":["password"]}`,
  ];
  for (const metadata of cases) {
    const { status, json } = await ask(metadata);
    expect(status).toBe(400);
    expect(json['error']).toMatch(/^invalid_(request|client_metadata|redirect_uri)$/);
  }
  const { json } = await ask({ redirect_uris, response_types: ['token'] });
  expect(json['error_description']).toContain('response_types must include code');
  const form = await register(authority.url, 'redirect_uris=x', {
    'Content-Type': 'application/x-www-form-urlencoded',
  });
  expect([form.status, form.json['error']]).toEqual([400, 'invalid_request']);
});

test('a registration can be neither read nor changed', async () => {
  const { client_id } = await registerApp(authority.url);
  for (const method of ['GET', 'PUT', 'DELETE', 'POST']) {
    const answer = await fetch(`${authority.url}/register/${client_id}`, { method });
    expect(answer.status).toBe(404);
  }
  expect((await fetch(`${authority.url}/register`)).status).toBe(405);
});

test('scripts of any origin can register', async () => {
  const { headers } = await register(authority.url, { redirect_uris }, { Origin: 'https://app.example' });
  expect(headers.get('access-control-allow-origin')).toBe('*');
  const refused = await register(authority.url, {}, { Origin: 'https://app.example' });
  expect(refused.headers.get('access-control-allow-origin')).toBe('*');
});

describe('unused clients', () => {
  const day = 24 * 3_600_000;
  const exists = async (client_id: string) =>
    (await authority.sql('select 1 from oauth_clients where client_id = $1', [client_id])).length > 0;
  const age = (client_id: string, days: number) =>
    authority.sql(
      `update oauth_clients set created_at = created_at - $2::bigint, last_used_at = last_used_at - $2::bigint where client_id = $1`,
      [client_id, days * day],
    );

  test('are removed after thirty days; used ones and those with a grant stay', async () => {
    const [unused, young, used, holding] = [
      await registerApp(authority.url),
      await registerApp(authority.url),
      await registerApp(authority.url),
      await registerApp(authority.url),
    ];
    const { refresh_token } = await used.connect(await authority.person());
    await used.revoke(refresh_token);
    await holding.connect(await authority.person());
    await age(unused.client_id, 31);
    await age(young.client_id, 29);
    await authority.sql('update oauth_clients set created_at = 0 where client_id = $1', [used.client_id]);
    await age(holding.client_id, 31);
    const { oauthClients } = authority.core.db;
    expect(await oauthClients.removeUnused(Date.now() - 30 * day, 100)).toBe(1);
    expect(await exists(unused.client_id)).toBe(false);
    for (const { client_id } of [young, used, holding]) expect(await exists(client_id)).toBe(true);
    const answer = await openFormBrowser(authority.url).go(unused.address());
    expect([answer.status, answer.title]).toEqual([400, expect.stringContaining('Unknown app')]);
  });
});

test('registrations from one address beyond the limit are refused', async () => {
  const limited = await startAuthorizationServer({ limits: 'register=3/3600' });
  const tries = [];
  for (let count = 0; count < 5; count += 1) tries.push(await register(limited.url, { redirect_uris }));
  expect(tries.map(({ status }) => status)).toEqual([201, 201, 201, 429, 429]);
  const last = tries.at(-1);
  expect(last?.json).toEqual({ error: 'temporarily_unavailable', error_description: expect.any(String) });
  expect(Number(last?.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(last?.headers.get('access-control-allow-origin')).toBe('*');
  await limited.close();
});

test('requests to /authorize beyond the limit are refused with a page', async () => {
  const limited = await startAuthorizationServer({ limits: 'public=2/60' });
  const app = await registerApp(limited.url);
  const statuses = [];
  for (let count = 0; count < 3; count += 1) {
    const answer = await openFormBrowser(limited.url).go(app.address(), { follow: false });
    statuses.push(answer.status);
    if (answer.status === 429) {
      expect(answer.title).toContain('Temporarily unavailable');
      expect(Number(answer.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
  }
  expect(statuses).toEqual([303, 303, 429]);
  const program = await fetch(app.address(), { headers: { Accept: 'application/json' } });
  expect(await program.json()).toMatchObject({ error: 'temporarily_unavailable' });
  await limited.close();
});

test('guesses at the token endpoint are limited, for each client and address separately', async () => {
  const limited = await startAuthorizationServer({ limits: 'token=3/60' });
  const [app, other] = [await registerApp(limited.url), await registerApp(limited.url)];
  const statuses = [];
  for (let count = 0; count < 5; count += 1) statuses.push((await app.refresh('guess')).status);
  expect(statuses).toEqual([400, 400, 400, 429, 429]);
  const refused = await app.refresh('guess');
  expect(refused.json.error).toBe('temporarily_unavailable');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await other.refresh('guess')).status).toBe(400);
  expect(limited.faults).toEqual([]);
  await limited.close();
});
