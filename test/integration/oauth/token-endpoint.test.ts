import { describe, expect, test } from 'vitest';
import { scopes as allScopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { connectTo } from '../../support/servers/postgres/database.ts';
import {
  clientSecretBasic,
  clientSecretPost,
  postForm,
  startAuthorizationServer,
  requestToken,
  useAuthorizationServer,
} from './authorization-server.ts';

const authority = useAuthorizationServer();

type Client = { client_id: string; client_secret: string };
const ask = (client: Client, fields: Record<string, string | string[]> = {}) =>
  postForm(
    `${authority.url}/token`,
    { grant_type: 'client_credentials', ...fields },
    clientSecretBasic(client),
  );

async function freshClient(): Promise<Client & { handle: string; agent_id: string }> {
  const agent = await authority.agent();
  return { ...(await authority.credential(agent.canonical_handle)), agent_id: agent.id };
}

describe('client authentication', () => {
  test('works by HTTP Basic and in the body; both get a token for the agent of the client', async () => {
    const client = await freshClient();
    const byBasic = await ask(client);
    const byBody = await postForm(`${authority.url}/token`, {
      grant_type: 'client_credentials',
      ...clientSecretPost(client),
    });
    for (const answer of [byBasic, byBody]) {
      expect(answer.status).toBe(200);
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(answer.json).toEqual({
        access_token: expect.stringMatching(/^[\w-]{43}$/),
        token_type: 'Bearer',
        expires_in: 900,
        scope: 'threads:read threads:write',
      });
      for (const audience of ['api', 'mcp', 'ws'] as const) {
        const actor = await authority.tokens.verify(answer.json.access_token ?? '', audience);
        expect(actor).toMatchObject({
          agent_id: client.agent_id,
          handle: client.handle,
          client_id: client.client_id,
          resource: authority.url,
          scopes: new Set(['threads:read', 'threads:write']),
        });
      }
    }
    expect(byBasic.json.access_token).not.toBe(byBody.json.access_token);
  });

  test('fails when a rotation ends the secret while the token is issued', async () => {
    const client = await freshClient();
    const db = await connectTo(authority.env.DATABASE_URL);
    const rotate = `update credentials set secret_hash = sha256('next') where client_id = $1`;
    await db.query('begin');
    await db.query(rotate, [client.client_id]);
    const response = ask(client);
    const waiting = `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
    const isOver = response.then(() => true);
    const isWaiting = async () => (await authority.sql(waiting)).length > 0;
    await expect.poll(() => Promise.race([isOver, isWaiting()])).toBe(true);
    await db.query('commit');
    expect(await response).toMatchObject({ status: 401, json: { error: 'invalid_client' } });
    expect(await authority.sql('select from access_tokens where client_id = $1', [client.client_id])).toEqual(
      [],
    );
  });

  test('fails equally for a wrong secret, an unknown client, a revoked credential and a retired agent', async () => {
    const good = await freshClient();
    const revoked = await freshClient();
    await authority.revoke(revoked.client_id);
    const retired = await freshClient();
    await authority.sql('update agents set retired_at = 1 where id = $1', [retired.agent_id]);
    const refused = [
      { ...good, client_secret: `${good.client_secret}x` },
      { ...good, client_secret: 'x' },
      { client_id: 'ams_unknown', client_secret: 'x' },
      { client_id: 'operator', client_secret: 'x' },
      revoked,
      retired,
    ];
    for (const client of refused) {
      const answer = await ask(client);
      expect(answer.status).toBe(401);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Basic realm=.*error="invalid_client"/);
      expect(answer.json).toEqual({
        error: 'invalid_client',
        error_description: 'client authentication failed',
      });
    }
  });

  test('does not accept the stored hash as the secret', async () => {
    const client = await freshClient();
    const [row] = await authority.sql<{ secret_hash: Buffer }>(
      'select secret_hash from credentials where client_id = $1',
      [client.client_id],
    );
    for (const encoding of ['base64url', 'base64', 'hex'] as const) {
      const client_secret = row?.secret_hash.toString(encoding) ?? '';
      expect((await ask({ ...client, client_secret })).status).toBe(401);
    }
  });

  test('treats a client_id that the database cannot store as unknown', async () => {
    const client = { client_id: 'ams_\0', client_secret: '\0' };
    const answer = await postForm(`${authority.url}/token`, { grant_type: 'client_credentials', ...client });
    expect([answer.status, answer.json.error]).toEqual([401, 'invalid_client']);
  });

  test('is required', async () => {
    const answer = await postForm(`${authority.url}/token`, { grant_type: 'client_credentials' });
    expect(answer.json.error).toBe('invalid_request');
  });
});

describe('scope', () => {
  test('can be a part of the scopes of the client, and is in the response', async () => {
    const { json } = await ask(await freshClient(), { scope: 'threads:read' });
    expect(json.scope).toBe('threads:read');
  });

  test('is narrowed to what the client has; unknown scopes are ignored', async () => {
    const client = await freshClient();
    const whole = 'threads:read threads:write';
    for (const [scope, granted] of [
      ['threads:read agents:write', 'threads:read'],
      ['agents:read contacts:read contacts:write realtime:read threads:read threads:write', whole],
      ['openid', whole],
      ['threads:*', whole],
      [' openid  threads:write', 'threads:write'],
      ['offline_access é', whole],
    ] as const) {
      const { status, json } = await ask(client, { scope });
      expect([scope, status, json.scope]).toEqual([scope, 200, granted]);
    }
  });

  test('is refused if the client has none of the known ones', async () => {
    const client = await freshClient();
    for (const scope of ['agents:write', 'contacts:read openid']) {
      const { status, json } = await ask(client, { scope });
      expect([status, json.error]).toEqual([400, 'invalid_scope']);
      expect(json.error_description).toContain('threads:read threads:write');
    }
  });

  test('can have all scopes', async () => {
    const agent = await authority.agent();
    const { json } = await ask(await authority.credential(agent.canonical_handle, [...allScopes]));
    expect(json.scope?.split(' ')).toEqual([...allScopes]);
  });
});

describe('resource', () => {
  test('can be each resource, as resource or audience, with and without a trailing slash', async () => {
    const client = await freshClient();
    for (const audience of ['api', 'mcp', 'ws'] as const) {
      const address = authority.resources[audience];
      for (const fields of [
        { resource: address },
        { resource: `${address}/` },
        { audience: address },
        { audience: `${address}/` },
        { resource: address, audience: 'https://elsewhere.example' },
      ]) {
        const token = await requestToken(authority, client, fields);
        const actor = await authority.tokens.verify(token, audience);
        expect(actor.resource).toBe(address);
      }
    }
  });

  test('is refused when unknown, not an address, or given twice', async () => {
    const client = await freshClient();
    const { api, mcp } = authority.resources;
    for (const fields of [
      { resource: 'https://elsewhere.example/v1' },
      { resource: `${authority.url}/v2` },
      { resource: `${api}?x=1` },
      { resource: `${api}#x` },
      { resource: 'v1' },
      { resource: [api, mcp] },
      { resource: [api, `${api}/`] },
      { audience: [api, mcp] },
      { audience: 'elsewhere' },
    ]) {
      const answer = await ask(client, fields);
      expect([answer.status, answer.json.error]).toEqual([400, 'invalid_target']);
    }
    // A client that found the service at another host name learns the right one.
    const { host } = new URL(api);
    const elsewhere = await ask(client, { resource: api.replace(host, '127.0.0.9:1') });
    expect(elsewhere.json['error_description']).toBe(
      `resource must be one of ${authority.url}/mcp ${api} ${authority.resources.ws} ${authority.url}`,
    );
  });
});

describe('other requests', () => {
  test('with other grant types, repeated fields or a JSON body get an OAuth error', async () => {
    const client = await freshClient();
    const cases: [Record<string, string | string[]>, string][] = [
      [{ grant_type: 'password' }, 'unsupported_grant_type'],
      [{ grant_type: 'authorization_code', code: 'x' }, 'invalid_request'],
      [{ grant_type: 'refresh_token', refresh_token: 'x' }, 'invalid_request'],
      [{ grant_type: ['client_credentials', 'client_credentials'] }, 'invalid_request'],
      [{ scope: ['threads:read', 'threads:write'] }, 'invalid_request'],
    ];
    for (const [fields, error] of cases) {
      expect((await ask(client, fields)).json.error).toBe(error);
    }
    const answer = await fetch(`${authority.url}/token`, {
      method: 'POST',
      headers: { ...clientSecretBasic(client), 'Content-Type': 'application/json' },
      body: JSON.stringify({ grant_type: 'client_credentials' }),
    });
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error: 'invalid_request' });
  });

  test('from a browser get JSON too, never a page', async () => {
    const answer = await postForm(`${authority.url}/token`, { grant_type: 'x' }, { Accept: 'text/html' });
    expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
    expect(answer.text).not.toContain('<');
  });

  test('by GET are 405, and to other paths 404, with the standard error body', async () => {
    const get = await fetch(`${authority.url}/token`);
    expect(get.status).toBe(405);
    expect(get.headers.get('allow')).toBe('POST, OPTIONS');
    expect(await get.json()).toMatchObject({ error: { code: 'METHOD_NOT_ALLOWED' } });
    for (const path of ['/me', '/request', '/session/end', '/interaction/x']) {
      const answer = await fetch(`${authority.url}${path}`);
      expect(answer.status).toBe(404);
      expect(await answer.json()).toMatchObject({ error: { code: 'NOT_FOUND' } });
    }
  });

  test('all have a request id in the response, and none causes an internal error', async () => {
    const answer = await postForm(`${authority.url}/token`, {}, { 'X-Request-Id': 'my-request-1' });
    expect(answer.headers.get('x-request-id')).toBe('my-request-1');
    expect(authority.faults).toEqual([]);
  });
});

test('an unavailable database is reported as temporary, and an internal error without its cause', async () => {
  const away = new DomainError('UNAVAILABLE', 'The database does not answer just now; try again.', {
    retry_after: 1,
  });
  let thrown: Error = away;
  const faulty = await startAuthorizationServer({
    storageOverrides: {
      async findClient() {
        throw thrown;
      },
    },
  });
  const client = { client_id: 'ams_x', client_secret: 'x' };
  const passing = await postForm(
    `${faulty.url}/token`,
    { grant_type: 'client_credentials' },
    clientSecretBasic(client),
  );
  expect([passing.status, passing.headers.get('retry-after')]).toEqual([503, '1']);
  expect(passing.json).toEqual({ error: 'temporarily_unavailable', error_description: away.message });
  expect(faulty.faults).toEqual([]);

  thrown = new Error('a secret detail');
  const fault = await postForm(
    `${faulty.url}/token`,
    { grant_type: 'client_credentials' },
    clientSecretBasic(client),
  );
  expect([fault.status, fault.json.error]).toEqual([500, 'server_error']);
  expect(fault.text).not.toContain('secret detail');
  expect(faulty.faults).toEqual([{ message: 'the authorization server failed', err: thrown }]);
  await faulty.close();
});
