import { system } from '../../../packages/core/src/domain/auth/audit.ts';
import { createHash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startProcess } from '../../../scripts/parts/service-process.ts';
import { registerAgentAsOperator } from '../../../src/services/agents/operator-registration.ts';
import { createCredential } from '../../../src/services/auth/credentials.ts';
import { openFormBrowser } from '../../clients/form-browser.ts';
import { bundledProgram } from '../../support/vitest/bundled-program.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { requestRest } from '../../clients/rest.ts';
import { buildAgent, issueTokenFor } from '../../support/service.ts';
import { connectWebSocket } from '../../clients/websocket.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { createFolder } from '../../support/use.ts';

/** Calls an address as programs do, and returns the JSON, also of an error response. */
async function call(url: string, fields: Record<string, string>, headers: Record<string, string> = {}) {
  const answer = await fetch(url, { method: 'POST', body: new URLSearchParams(fields), headers });
  const text = await answer.text();
  return { status: answer.status, body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown> };
}

test('no log of API or worker contains message text or secrets, whatever fails', async () => {
  const folder = await createFolder();
  const cluster = await startTestCluster('postgres');
  const { core } = cluster;
  const operator = randomBytes(12).toString('hex');
  const env = { ...cluster.env, LOG_LEVEL: 'trace', OPERATOR_PASSWORD: operator };
  const logs = { api: join(folder, 'api.log'), worker: join(folder, 'worker.log') };
  const api = await startProcess('api', env, { logFile: logs.api, program: bundledProgram('api') });
  const worker = await startProcess('worker', env, {
    logFile: logs.worker,
    program: bundledProgram('worker'),
  });
  const { url } = api;
  const secrets: Record<string, string> = { operator, key: String(cluster.env['SECRET_KEY']) };
  const words = (name: string): string => (secrets[name] = `said-${name}-${randomBytes(6).toString('hex')}`);

  // REST, with all kinds of errors.
  const [ann, bob] = await Promise.all([buildAgent(core), buildAgent(core)]);
  Object.assign(secrets, { annToken: ann.token, bobToken: bob.token });
  const first = { with_handle: bob.handle, subject: words('subject'), initial_message: words('rest') };
  const thread = await requestRest('POST', `${url}/v1/threads`, { token: ann.token, body: first });
  expect(thread.status).toBe(201);
  const path = `/v1/threads/${thread.body.id}/messages`;
  const post = (body: string, headers: Record<string, string> = {}) =>
    fetch(`${url}${path}`, {
      method: 'POST',
      body,
      headers: { Authorization: `Bearer ${ann.token}`, 'Content-Type': 'application/json', ...headers },
    });
  expect((await post(`{"content": "${words('broken')}`)).status).toBe(400);
  expect((await post(JSON.stringify({ content: words('keyless') }))).status).toBe(400);
  expect((await post('{}', { Authorization: `Bearer ${words('token')}` })).status).toBe(401);
  expect(
    (await fetch(`${url}/v1/messages/search?q=${words('query')}&access_token=${words('inQuery')}`)).status,
  ).toBe(401);
  expect((await fetch(`${url}/nothing/${words('path')}`)).status).toBe(404);
  await fetch(`${url}/ops/queues`, { headers: { Authorization: `Basic ${words('basic')}` } });

  // WebSocket and MCP.
  const ticket = await requestRest('POST', `${url}/v1/realtime/tickets`, { token: bob.token });
  secrets['ticket'] = String(ticket.body.ticket);
  const socket = await connectWebSocket(url, { ticket: String(ticket.body.ticket) });
  socket.send(`{"type":"ping","${words('frame')}":`);
  await socket.next(({ type }) => type === 'error');
  await expect(connectWebSocket(url, { token: words('socketToken') })).rejects.toThrow();
  const mcp = (secrets['mcpToken'] = await issueTokenFor(core, bob.handle, { audience: 'mcp' }));
  await callToolRaw(url, mcp, 'send_message', { thread_id: thread.body.id, content: words('tool') });
  await callToolRaw(url, mcp, 'send_message', { thread_id: words('argument'), content: words('refused') });
  await socket.next((frame) => (frame.data as { content?: string }).content === secrets['tool']);
  await socket.close();

  // Sign-in of a client and of a person, an authorization code, and a failure of each.
  const { client_id, client_secret } = await core.unitOfWork.write(system, (work) =>
    createCredential(work, { handle: ann.handle, scopes: ['threads:read'] }),
  );
  secrets['clientSecret'] = client_secret;
  const granted = await call(`${url}/token`, { grant_type: 'client_credentials', client_id, client_secret });
  expect(granted.status).toBe(200);
  secrets['granted'] = String(granted.body['access_token']);
  const token = secrets['granted'];
  await call(`${url}/introspect`, { token, client_id, client_secret });
  await call(`${url}/token`, {
    grant_type: 'client_credentials',
    client_id,
    client_secret: words('wrongSecret'),
  });
  await call(`${url}/revoke`, { token, client_id, client_secret });

  const browser = openFormBrowser(url);
  const username = `person-${randomBytes(4).toString('hex')}`;
  await browser.signUp(username, words('password'));
  const agent = { handle: `${username}.helper`, create_owner: false, visibility: 'private' } as const;
  const { id } = await core.unitOfWork.write(system, (work) =>
    registerAgentAsOperator(work, { ...agent, inbound_policy: 'contacts_only' }),
  );
  const redirect_uri = 'http://127.0.0.1:9/callback';
  const registered = await fetch(`${url}/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      redirect_uris: [redirect_uri],
      token_endpoint_auth_method: 'none',
      client_name: 'App',
    }),
  });
  const app = (await registered.json()) as { client_id: string };
  const code_verifier = words('verifier').padEnd(50, 'x');
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: app.client_id,
    redirect_uri,
    scope: 'threads:read',
    state: words('state'),
    code_challenge: createHash('sha256').update(code_verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  const approved = await browser.approve(await browser.go(`/authorize?${query.toString()}`), id);
  const code = (secrets['code'] =
    new URL(String(approved.headers.get('Location'))).searchParams.get('code') ?? '');
  const fields = { grant_type: 'authorization_code', client_id: app.client_id, redirect_uri };
  const tokens = await call(`${url}/token`, { ...fields, code, code_verifier });
  expect(tokens.status).toBe(200);
  secrets['access'] = String(tokens.body['access_token']);
  secrets['refresh'] = String(tokens.body['refresh_token']);
  await call(`${url}/token`, { ...fields, code, code_verifier });
  for (const [name, { value }] of browser.cookies) secrets[`cookie ${name}`] = value;
  await openFormBrowser(url).signIn(username, words('wrongPassword'));

  // A job that fails permanently, and calls and jobs while the database is broken.
  const job = {
    queue: 'maintenance',
    name: 'unheard-of',
    id: 'a-job',
    payload: { words: words('payload') },
  } as const;
  await core.queues.enqueue([{ ...job, attempts: 1, backoff_ms: 1 }]);
  await expect.poll(async () => (await core.db.outbox.readAge()).rows).toBe(0);
  await core.database.query({ text: 'alter table messages rename column content to elsewhere' }, []);
  const broken = await post(JSON.stringify({ content: words('fault') }), {
    'Idempotency-Key': 'k',
    'X-Request-Id': 'request-of-ann',
  });
  expect(broken.status).toBe(500);
  await callToolRaw(url, mcp, 'send_message', { thread_id: thread.body.id, content: words('toolFault') });

  await Promise.all([api.terminate(), worker.terminate()]);
  const written = { api: await readFile(logs.api, 'utf8'), worker: await readFile(logs.worker, 'utf8') };
  for (const [part, text] of Object.entries(written)) {
    const lines = text.split('\n').filter((line) => line !== '');
    // One JSON object a line, and no other output.
    expect(lines.map((line) => (JSON.parse(line) as { part: string }).part)).toEqual(lines.map(() => part));
    expect(Object.entries(secrets).filter(([, secret]) => secret === '' || text.includes(secret))).toEqual(
      [],
    );
  }
  // The errors are in the log, under the request id that the caller received.
  expect(written.api).toContain('"request_id":"request-of-ann"');
  expect(written.worker).toContain('the job unheard-of has no handler');
});
