import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startRemoteServer } from '../../support/a2a/remote-server.ts';
import { requestRest } from '../../clients/rest.ts';
import { scopes } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { TestAgent } from '../../support/service.ts';
import { useService } from '../../support/service.ts';
import { waitUntil } from '../webhooks/setup.ts';
import { useInstallation } from './setup.ts';
import { stopAfterTest } from '../../support/use.ts';

const service = useInstallation({ env: { REMOTE_CONFIRM: 'person', AGENTS_PER_OWNER: '6' } });
const without = useService({ worker: false, env: { REMOTE_AGENTS: 'false' } });

const path = '/remote-agents';
const card_url = 'https://agent.example/card.json';
const ownerOf = ({ handle }: TestAgent): string => handle.split('.')[0] ?? '';

/** Adds an agent whose card cannot be read. */
async function add(by: TestAgent, fields: object = {}, headers: Record<string, string> = {}) {
  return service.post(by, path, { card_url, ...fields }, { headers });
}

const send = ({ token }: TestAgent, method: string, address: string, body?: object, api = service.api) =>
  requestRest(method, api + address, { token, body });

/** Another agent of the same owner. */
const colleagueOf = (agent: TestAgent, name = 'colleague') =>
  service.register({ handle: `${ownerOf(agent)}.${name}`, inbound_policy: 'open' }, { scopes });

test('an agent is added, its card is read a moment later, and then it waits for a person', async () => {
  const server = stopAfterTest(await startRemoteServer());
  const ann = await service.agent();
  const credential = { kind: 'bearer', token: 'top-secret' };
  const added = await service.post(ann, path, { card_url: server.cardUrl, credential });
  expect([added.status, added.headers.get('location')]).toEqual([
    201,
    `${service.core.config.PUBLIC_URL}/v1${path}/${added.body.id}`,
  ]);
  expect(added.body).toMatchObject({
    canonical_handle: `${ownerOf(ann)}.127-0-0-1`,
    card_url: server.cardUrl,
    credential: 'bearer',
    fingerprint: null,
    state: 'waiting',
    waiting_for: 'card',
  });
  await waitUntil(async () => (await service.readRemote(ann, added.body.id)).waiting_for).toBe('person');
  const { canonical_handle } = added.body;
  const { body, text } = await service.get(ann, `${path}/@${canonical_handle.toUpperCase()}`);
  expect(body).toMatchObject({
    id: added.body.id,
    canonical_handle,
    display_name: 'Remote Agent',
    description: 'An agent of another system.',
    provider: 'Example',
    skills: [{ name: 'answer', description: 'Answers questions.' }],
    interface: { url: `${server.url}/a2a`, binding: 'JSONRPC', version: '1.0' },
    token_url: `${server.url}/token`,
    signed_by: [],
    fingerprint: expect.any(String),
    confirmed_fingerprint: null,
    card_error: null,
    last_delivered_at: null,
  });
  expect(body.expires_at - body.created_at).toBe(7 * 24 * 3_600_000);
  expect(text).not.toContain('top-secret');
  const [row] = await service.sql<{ text: string }>(
    `select r::text || a::text as text from remote_agents r join agents a on a.id = r.agent_id where a.id = $1`,
    [body.id],
  );
  expect(row?.text).toContain(server.cardUrl);
  expect(row?.text).not.toContain(Buffer.from('top-secret').toString('hex'));
  expect((await service.get(ann, path)).body).toEqual({ remote_agents: [body] });
});

test('the agents of a person have it as a contact, and see it as a private agent', async () => {
  const ann = await service.agent();
  const colleague = await colleagueOf(ann);
  const { body } = await add(ann);
  for (const agent of [ann, colleague]) {
    const { contacts } = (await service.get(agent, '/contacts')).body;
    const remote = contacts.find((contact: { agent_id: string }) => contact.agent_id === body.id);
    expect(remote).toMatchObject({ canonical_handle: body.canonical_handle, same_owner: true });
    expect((await service.get(agent, `/agents/${body.id}`)).body).toMatchObject({
      scope: 'remote',
      visibility: 'private',
    });
  }
  const listed = (await service.get(ann, '/agents')).body.agents.map(({ id }: { id: string }) => id);
  expect(listed.sort()).toEqual([ann.id, colleague.id].sort());
});

test('agents of other owners get the same answer as for an agent that does not exist', async () => {
  const [ann, bob] = [await service.agent(), await service.agent()];
  const { body } = await add(ann);
  const absent = `${ownerOf(ann)}.absent`;
  const shown = async (method: string, ref: string, more = '') => {
    const fields = method === 'PATCH' ? { display_name: 'x' } : undefined;
    const { status, body: error } = await send(bob, method, `${path}/${ref}${more}`, fields);
    return [status, error.error.code, error.error.message];
  };
  for (const [method, more] of [['GET'], ['PATCH'], ['DELETE'], ['POST', '/refresh']] as const) {
    const expected = await shown(method, absent, more);
    expect(expected.slice(0, 2)).toEqual([404, 'AGENT_NOT_FOUND']);
    for (const ref of [body.id, body.canonical_handle, ann.id, bob.id, bob.handle])
      expect(await shown(method, ref, more), `${method} ${ref}`).toEqual(expected);
  }
  expect((await service.get(bob, path)).body).toEqual({ remote_agents: [] });
  expect((await service.get(bob, `/agents/${body.id}`)).status).toBe(404);
  const write = { with_handle: body.canonical_handle, content: 'Hello' };
  expect((await service.post(bob, '/threads/ask', write)).status).toBe(404);
});

test('the list has pages', async () => {
  const ann = await service.agent();
  for (const handle of ['c', 'a', 'b']) expect((await add(ann, { handle })).status).toBe(201);
  const first = (await service.get(ann, `${path}?limit=2`)).body;
  const second = (await service.get(ann, `${path}?limit=2&cursor=${first.next_cursor}`)).body;
  const handles = [first, second].map(({ remote_agents }) =>
    remote_agents.map(({ canonical_handle }: { canonical_handle: string }) => canonical_handle.split('.')[1]),
  );
  expect([handles, second.next_cursor]).toEqual([[['a', 'b'], ['c']], undefined]);
});

test('a repeated request adds one agent, and another request with its key is refused', async () => {
  const ann = await service.agent();
  const headers = { 'Idempotency-Key': randomUUID() };
  const answers = await Promise.all(Array.from({ length: 5 }, () => add(ann, {}, headers)));
  const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id));
  expect(ids.size).toBe(1);
  expect((await add(ann, { handle: 'other' }, headers)).body.error.code).toBe('IDEMPOTENCY_MISMATCH');
  expect((await service.get(ann, path)).body.remote_agents).toHaveLength(1);
});

describe('an agent is not added', () => {
  test.each([
    ['plain http', { card_url: 'http://8.8.8.8/card.json' }, 'card_url', 'must lead to a public address'],
    ['a private address', { card_url: 'https://10.0.0.1/card.json' }, 'card_url', 'must lead to a public'],
    ['no address', { card_url: 'agent.example' }, 'card_url', 'must be an address that starts with https'],
    ['a password in it', { card_url: 'https://a:b@agent.example/' }, 'card_url', 'must hold no user name'],
    ['a wrong name', { handle: 'a.b' }, 'handle', 'has 1 to 32'],
    ['no token', { credential: { kind: 'bearer' } }, 'credential.token', 'is required'],
    ['a secret too many', { credential: { kind: 'none', token: 'x' } }, 'credential.token', 'does not fit'],
    [
      'a private address for tokens',
      {
        credential: {
          kind: 'client_credentials',
          client_id: 'a',
          client_secret: 'b',
          token_url: 'https://10.0.0.1/',
        },
      },
      'credential.token_url',
      'must lead to a public address',
    ],
  ])('with %s', async (_what, fields, field, message) => {
    const ann = await service.agent();
    const { status, body } = await add(ann, fields);
    expect([status, body.error.code]).toEqual([400, 'VALIDATION_ERROR']);
    expect(body.error.details).toEqual([{ field, message: expect.stringContaining(message) }]);
  });

  test('at an address of this service: the answer names the handle', async () => {
    const [ann, bob] = [await service.agent(), await service.agent()];
    const own = `${service.core.config.PUBLIC_URL}/a2a/${bob.handle.replace('.', '/')}`;
    const { status, body } = await add(ann, { card_url: `${own}/.well-known/agent-card.json` });
    expect([status, body.error.details[0].message]).toEqual([400, expect.stringContaining(bob.handle)]);
  });

  test('with a handle that is in use, or when the owner has the maximum of agents', async () => {
    const ann = await service.agent();
    expect((await add(ann, { handle: 'agent' })).body.error.code).toBe('DUPLICATE_HANDLE');
    for (let count = 1; count < 6; count += 1)
      expect((await add(ann, { handle: `a${count}` })).status).toBe(201);
    expect((await add(ann, { handle: 'a6' })).body.error.code).toBe('FORBIDDEN');
  });

  test('without the scope', async () => {
    const ann = await service.agent({ scopes: ['agents:read'] });
    expect((await add(ann)).body.error.code).toBe('INSUFFICIENT_SCOPE');
  });
});

test('an address without a path is that of the usual card', async () => {
  const ann = await service.agent();
  const { body } = await add(ann, { card_url: 'https://Agent.example' });
  expect(body.card_url).toBe('https://agent.example/.well-known/agent-card.json');
  expect(body.canonical_handle).toBe(`${ownerOf(ann)}.agent-example`);
});

test('its name and its credential can be changed, and the name stays when the card is read again', async () => {
  const server = stopAfterTest(await startRemoteServer());
  const ann = await service.agent();
  const { id } = await service.addRemote(ann, { card_url: server.cardUrl }, { isReady: false });
  await waitUntil(async () => (await service.readRemote(ann, id)).display_name).toBe('Remote Agent');
  const credential = { kind: 'client_credentials', client_id: 'me', client_secret: 'top-secret' };
  const changed = await service.patch(ann, `${path}/${id}`, { display_name: 'Freight', credential });
  expect(changed.body).toMatchObject({ display_name: 'Freight', credential: 'client_credentials' });
  expect(changed.text).not.toContain('top-secret');
  server.changeCard({ name: 'Another name', description: 'New.' });
  expect((await service.post(ann, `${path}/${id}/refresh`)).status).toBe(200);
  await waitUntil(async () => (await service.readRemote(ann, id)).description).toBe('New.');
  expect((await service.readRemote(ann, id)).display_name).toBe('Freight');
  expect((await service.patch(ann, `${path}/${id}`, {})).status).toBe(400);
});

test('a removed agent is gone, and its handle stays reserved', async () => {
  const server = stopAfterTest(await startRemoteServer());
  const ann = await service.agent();
  const remote = await service.addRemote(
    ann,
    { card_url: server.cardUrl, handle: 'freight' },
    { isReady: false },
  );
  const { thread_id } = await service.ask(ann, remote, 'When?');
  expect((await service.delete(ann, `${path}/${remote.id}`)).status).toBe(204);
  expect((await service.get(ann, `${path}/${remote.id}`)).status).toBe(404);
  expect((await service.get(ann, path)).body.remote_agents).toEqual([]);
  expect(await service.sql('select from remote_threads where thread_id = $1', [thread_id])).toEqual([]);
  expect((await service.messages(ann, thread_id)).map(({ content }) => content)).toEqual(['When?']);
  expect((await add(ann, { handle: 'freight' })).body.error.code).toBe('DUPLICATE_HANDLE');
  const [entry] = await service.sql<{ act: string }>(
    `select act from audit_log where agent_id = $1 and act = 'remote_agent.removed'`,
    [remote.id],
  );
  expect(entry).toBeDefined();
});

test('without the setting the addresses do not exist', async () => {
  const ann = await without.agent({ scopes });
  const unknown = await without.get(ann, '/unknown-agents');
  expect(unknown.status).toBe(404);
  for (const [method, address] of [
    ['GET', path],
    ['POST', path],
    ['GET', `${path}/${ann.id}`],
    ['POST', `${path}/${ann.id}/refresh`],
  ] as const) {
    const { status, body } = await send(ann, method, address, undefined, without.api);
    const message = unknown.body.error.message.replace('GET /v1/unknown-agents', `${method} /v1${address}`);
    expect([status, body.error]).toEqual([
      404,
      { ...unknown.body.error, message, request_id: expect.any(String) },
    ]);
  }
  const document = await (await fetch(`${without.api}/openapi.json`)).text();
  expect(document).not.toContain('/remote-agents');
});
