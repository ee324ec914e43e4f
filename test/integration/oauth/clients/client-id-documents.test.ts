import { expect, test } from 'vitest';
import { openFormBrowser } from '../../../clients/form-browser.ts';
import { createApp, readShownRequest, readTokens } from '../../../clients/oauth/app.ts';
import { startAuthorizationServer, useAuthorizationServer } from '../authorization-server.ts';

const redirect_uri = 'http://127.0.0.1/callback';
const read: string[] = [];
const documents: Record<string, () => Response | Promise<Response>> = {};

/** Puts a document at a fresh address of the app's website, and answers its client_id. */
function publish(metadata: object, answer?: (body: string) => Response): string {
  const client_id = `https://app.example/clients/${Object.keys(documents).length}`;
  const body = JSON.stringify({
    client_id,
    client_name: 'An app',
    redirect_uris: [redirect_uri],
    ...metadata,
  });
  documents[client_id] = () => {
    read.push(client_id);
    return answer?.(body) ?? new Response(body, { headers: { 'Content-Type': 'application/json' } });
  };
  return client_id;
}

const authority = useAuthorizationServer({ documents });

const visit = (client_id: string) =>
  openFormBrowser(authority.url).go(createApp(authority.url, client_id, redirect_uri).address());

test('an app with a metadata document connects without registration', async () => {
  const who = await authority.person();
  const client_id = publish({ client_name: 'Published\u202E app', client_uri: 'https://app.example/' });
  const wanting = createApp(authority.url, client_id, redirect_uri);
  const { request } = await readShownRequest(openFormBrowser(authority.url), wanting.address());
  expect(request).toMatchObject({
    client: {
      client_id,
      name: 'Published app',
      kind: 'document',
      loopback: true,
      uri: 'https://app.example/',
    },
  });
  const port = 'http://127.0.0.1:5123/callback';
  const app = createApp(authority.url, client_id, port);
  const tokens = await app.connect(who);
  const next = readTokens(await app.refresh(tokens.refresh_token, { resource: authority.resources.mcp }));
  expect(await authority.tokens.verify(next.access_token, 'mcp')).toMatchObject({
    agent_id: who.agent.id,
    client_id,
  });
  // It was read once, and then remembered.
  expect(read.filter((address) => address === client_id)).toHaveLength(1);
});

test('unsupported fields of a document are ignored', async () => {
  const client_id = publish({
    grant_types: ['authorization_code', 'client_credentials', 'implicit'],
    response_types: ['code', 'id_token'],
    scope: 'everything',
    logo_uri: 'https://app.example/logo.png',
    sector_identifier_uri: 'https://app.example/sector',
    jwks_uri: 'https://app.example/keys',
    require_auth_time: true,
    token_endpoint_auth_method: 'none',
  });
  const app = createApp(authority.url, client_id, redirect_uri);
  const tokens = await app.connect(await authority.person());
  expect(tokens.refresh_token).not.toBe('');
  expect(read.filter((address) => !address.startsWith('https://app.example/clients/'))).toEqual([]);
});

test.each<[string, object]>([
  ['another client_id', { client_id: 'https://app.example/other' }],
  ['a secret', { client_secret: 'x' }],
  ['a shared secret as its proof', { token_endpoint_auth_method: 'client_secret_basic' }],
  ['keys as its proof', { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [] } }],
  ['no redirect address', { redirect_uris: [] }],
  ['an http redirect address of another host', { redirect_uris: ['http://app.example/callback'] }],
  ['a script for a redirect address', { redirect_uris: ['javascript:alert(1)'] }],
  ['an agent of its choice', { agent_id: 'agt_01HZZZZZZZZZZZZZZZZZZZZZZZ', agent_scopes: 'threads:read' }],
  ['only the implicit flow', { response_types: ['token'] }],
])('a document with %s is refused with a page', async (_what, metadata) => {
  const page = await visit(publish(metadata));
  expect([page.status, page.headers.get('Location')]).toEqual([400, null]);
  expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
});

test.each<[string, (body: string) => Response]>([
  ['moved', () => Response.redirect('https://elsewhere.example/', 302)],
  ['gone', () => new Response('{}', { status: 404 })],
  ['no JSON', () => new Response('<html>')],
  ['a list', () => new Response('[]')],
  ['huge', (body) => new Response(body.padEnd(100_000))],
])('a document that is %s makes no client', async (_what, answer) => {
  const page = await visit(publish({}, answer));
  expect([page.status, page.headers.get('Location')]).toEqual([400, null]);
  expect(page.text).not.toContain('elsewhere.example');
});

test('addresses that are not valid for a document are not read', async () => {
  const before = read.length;
  for (const client_id of [
    'http://app.example/client',
    'https://user@app.example/client',
    'https://app.example/#x',
    'https://app.example/a/../b',
    'ftp://app.example/client',
  ]) {
    expect((await visit(client_id)).status).toBe(400);
  }
  expect(read).toHaveLength(before);
});

test('a client whose document cannot be fetched is told to try again', async () => {
  const who = await authority.person();
  let away = false;
  const client_id = publish({}, (body) => (away ? new Response('{}', { status: 503 }) : new Response(body)));
  const app = createApp(authority.url, client_id, redirect_uri);
  const { refresh_token } = await app.connect(who);
  // Another process has not read it yet.
  const next = await startAuthorizationServer({ restartOf: authority, documents });
  const there = createApp(next.url, client_id, redirect_uri, app.pair);
  away = true;
  const refused = await there.refresh(refresh_token);
  expect([refused.status, refused.json.error]).toEqual([503, 'temporarily_unavailable']);
  expect(refused.headers.get('retry-after')).toBe('60');
  const page = await openFormBrowser(next.url).go(there.address());
  expect([page.status, page.headers.get('Location')]).toEqual([503, null]);
  expect(page.visibleText).toContain('Check that it has a public https address, then try again.');
  away = false;
  expect((await there.refresh(refresh_token)).status).toBe(200);
  expect(next.faults).toEqual([]);
  await next.close();
});

test('the document of a client without connections is read only for authorization requests', async () => {
  const before = read.length;
  const app = createApp(authority.url, publish({}), redirect_uri);
  for (const answer of [await app.refresh('guess'), await app.exchange('guess'), await app.revoke('guess')]) {
    expect([answer.status, answer.json.error]).toEqual([400, 'invalid_client']);
  }
  expect(read).toHaveLength(before);
});

test('requests that read documents beyond the limit are refused', async () => {
  const limited = await startAuthorizationServer({ documents, limits: 'register=2/3600' });
  const statuses = [];
  for (let count = 0; count < 4; count += 1) {
    const app = createApp(limited.url, publish({}), redirect_uri);
    const page = await openFormBrowser(limited.url).go(app.address(), { follow: false });
    statuses.push(page.status);
    if (page.status === 429) expect(page.headers.get('Content-Type')).toMatch(/^text\/html/);
  }
  expect(statuses).toEqual([303, 303, 429, 429]);
  await limited.close();
});

test('documents of connected clients are read again without counting against the limit', async () => {
  const client_id = publish({});
  const app = createApp(authority.url, client_id, redirect_uri);
  const { refresh_token } = await app.connect(await authority.person());
  const limited = await startAuthorizationServer({
    restartOf: authority,
    documents,
    limits: 'register=1/3600',
  });
  await openFormBrowser(limited.url).go(createApp(limited.url, publish({}), redirect_uri).address(), {
    follow: false,
  });
  const there = createApp(limited.url, client_id, redirect_uri, app.pair);
  expect((await there.refresh(refresh_token)).status).toBe(200);
  await limited.close();
});

test('a service that does not accept documents does not announce them, and fetches none', async () => {
  const settings = { CLIENT_ID_METADATA_DOCUMENTS: 'false' };
  const closed = await startAuthorizationServer({ documents, settings });
  const metadata = await fetch(`${closed.url}/.well-known/oauth-authorization-server`);
  expect(await metadata.json()).not.toHaveProperty('client_id_metadata_document_supported');
  const before = read.length;
  const app = createApp(closed.url, publish({}), redirect_uri);
  const page = await openFormBrowser(closed.url).go(app.address());
  expect([page.status, page.title]).toEqual([400, expect.stringContaining('Unknown app')]);
  expect(read).toHaveLength(before);
  await closed.close();
});
