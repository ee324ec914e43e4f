import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { outcomeOf, readPages, requestRest, type RestResponse } from '../../../clients/rest.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';

const service = useSharedService();

const owned = () => service.agent({ scopes, visibility: 'private', inbound_policy: 'contacts_only' });
const ownerOf = ({ handle }: TestAgent) => handle.split('.')[0] ?? '';

function agents(method: string, path: string, token: string, body?: unknown): Promise<RestResponse> {
  return requestRest(method, `${service.api}/agents${path}`, { token, body, key: null });
}

const register = (token: string, body: object = {}) =>
  agents('POST', '', token, { name: `x-${randomUUID().slice(0, 8)}`, display_name: 'X', ...body });

test('an agent is registered with the documented defaults, and found at its Location', async () => {
  const ann = await owned();
  const created = await agents('POST', '', ann.token, { name: 'Weather', display_name: 'The weather' });
  expect(created.status).toBe(201);
  expect(created.body).toEqual({
    id: expect.stringMatching(/^agt_/),
    canonical_handle: `${ownerOf(ann)}.weather`,
    display_name: 'The weather',
    description: '',
    scope: 'personal',
    visibility: 'unlisted',
    inbound_policy: 'contacts_only',
    created_at: expect.any(Number),
    updated_at: created.body.created_at,
    card_body: '',
    skills: [],
    can_initiate_threads: true,
    paused: false,
    is_online: false,
  });
  expect(created.headers.get('location')).toBe(`http://localhost:3000/v1/agents/${created.body.id}`);
  const refs = [created.body.id, created.body.canonical_handle, `@${ownerOf(ann).toUpperCase()}.WEATHER`];
  for (const ref of [...refs, encodeURIComponent(`@${created.body.canonical_handle}`)]) {
    expect((await agents('GET', `/${ref}`, ann.token)).body).toEqual(created.body);
  }
});

test('every field is accepted up to its maximum length', async () => {
  const ann = await owned();
  const skills = Array.from({ length: 20 }, (_, index) => ({
    name: `s-${index}`.padEnd(64, 'x'),
    description: 'ü'.repeat(500),
  }));
  const input = {
    display_name: 'D'.repeat(100),
    description: 'd'.repeat(1000),
    inbound_policy: 'allowlist',
    visibility: 'public',
    card_body: 'é'.repeat(16_384),
    skills,
    scope: 'personal',
  };
  const created = await register(ann.token, input);
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject(input);
});

test('an invalid registration is refused by the name of the field', async () => {
  const ann = await owned();
  const wrong: [object, string][] = [
    [{ name: 'a.b' }, 'name'],
    [{ name: '-a' }, 'name'],
    [{ name: 'a\u0000' }, 'name'],
    [{ display_name: 'half \ud800' }, 'display_name'],
    [{ card_body: `${'é'.repeat(16_384)}x` }, 'card_body'],
    [{ skills: [{ name: 'Not A Slug', description: '' }] }, 'skills.0.name'],
    [{ skills: [{ name: 'a', description: 'x'.repeat(501) }] }, 'skills.0.description'],
    [{ skills: [{ name: 'a', description: '', price: 1 }] }, 'skills.0.price'],
    [{ scope: 'shared' }, 'organization'],
    [{ scope: 'member' }, 'organization'],
  ];
  for (const [body, field] of wrong) {
    const answer = await register(ann.token, body);
    expect(outcomeOf(answer), field).toBe('400 VALIDATION_ERROR');
    expect(answer.body.error.details[0].field).toBe(field);
  }
});

test('a taken handle is refused, and a repeated key registers once', async () => {
  const ann = await owned();
  const body = { name: 'once', display_name: 'Once' };
  const send = () => service.post(ann, '/agents', body, { key: 'same' });
  const [first, second] = await Promise.all([send(), send()]);
  expect([first.status, second.status]).toEqual([201, 201]);
  expect(first.text).toBe(second.text);
  expect(outcomeOf(await agents('POST', '', ann.token, { ...body, name: 'ONCE' }))).toBe(
    '409 DUPLICATE_HANDLE',
  );
  const racing = await Promise.all(
    Array.from({ length: 5 }, () => agents('POST', '', ann.token, { ...body, name: 'raced' })),
  );
  expect(racing.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409, 409, 409, 409]);
});

test('the list shows the personal agents of the owner, in pages that neither skip nor repeat', async () => {
  const ann = await owned();
  const created = [ann.id];
  for (const name of ['a', 'b', 'c', 'd']) created.push((await register(ann.token, { name })).body.id);
  const read = (query: string) => agents('GET', query, ann.token);
  const seen = await readPages(read, { list: 'agents', limit: 2 }, async ({ length }) => {
    // New agents are added at the end of the list.
    if (length === 2) created.push((await register(ann.token)).body.id);
  });
  expect(seen.map(({ id }) => id)).toEqual(created);
});

test('an agent can change its profile, but not its policies', async () => {
  const { token, id, handle } = await service.agent({ scopes: ['contacts:write'] });
  const before = (await agents('GET', '/me', token)).body;
  const change = {
    display_name: 'New',
    description: 'words',
    card_body: '# Card',
    skills: [{ name: 'talk', description: 'Talks.' }],
  };
  const changed = await agents('PATCH', '/me', token, change);
  expect(changed.status).toBe(200);
  expect(changed.body).toEqual({ ...before, ...change, updated_at: changed.body.updated_at });
  expect(changed.body.updated_at).toBeGreaterThan(before.updated_at);
  expect((await agents('PATCH', '/me', token, change)).body).toEqual(changed.body);
  for (const granted of [[], ['threads:read', 'contacts:read', 'agents:read', 'realtime:read']] as const) {
    const reader = await service.token(handle, { scopes: granted });
    expect((await agents('GET', '/me', reader)).status).toBe(200);
    const refused = await agents('PATCH', '/me', reader, { description: 'hijacked' });
    expect(outcomeOf(refused)).toBe('403 INSUFFICIENT_SCOPE');
    expect(refused.body.error.message).toContain('threads:write, contacts:write, or agents:write');
    expect(refused.headers.get('www-authenticate')).toContain('scope="threads:write"');
  }
  const policies = {
    inbound_policy: 'open',
    visibility: 'public',
    paused: false,
    can_initiate_threads: true,
  };
  for (const [field, value] of Object.entries(policies)) {
    const answer = await agents('PATCH', '/me', token, { display_name: 'Newer', [field]: value });
    expect(outcomeOf(answer), field).toBe('403 FORBIDDEN');
  }
  const deep = { token, raw: `{"paused":${'['.repeat(50_000)}${']'.repeat(50_000)}}` };
  const json = { 'Content-Type': 'application/json' };
  for (const headers of [json, { ...json, 'Idempotency-Key': 'deep' }]) {
    expect(outcomeOf(await requestRest('PATCH', `${service.api}/agents/me`, { ...deep, headers }))).toBe(
      '400 VALIDATION_ERROR',
    );
  }
  for (const body of [{}, { name: 'x' }, { scope: 'shared' }, { id }, { display_name: null }]) {
    expect(outcomeOf(await agents('PATCH', '/me', token, body))).toBe('400 VALIDATION_ERROR');
  }
  expect((await agents('GET', '/me', token)).body).toEqual(changed.body);
  expect(outcomeOf(await agents('PATCH', `/${id}`, token, change))).toBe('403 INSUFFICIENT_SCOPE');
});

test('an owner can change the policies too; the agent and the acting agent get one event each', async () => {
  const ann = await owned();
  const other = (await register(ann.token)).body;
  const otherToken = await service.token(other.canonical_handle, { scopes });
  const [mine, theirs] = await Promise.all([
    connectWebSocket(service.url, { token: ann.token }),
    connectWebSocket(service.url, { token: otherToken }),
  ]);
  const change = { inbound_policy: 'open', visibility: 'public', paused: true, can_initiate_threads: false };
  const changed = await agents('PATCH', `/${other.id}`, ann.token, change);
  // Presence is updated shortly after the connection opens.
  const { updated_at, is_online } = changed.body;
  expect(changed.body).toEqual({ ...other, ...change, updated_at, is_online });
  expect(changed.body.updated_at).toBeGreaterThan(other.updated_at);
  // A repeated change has no effect and no event; a handle works like an id.
  await agents('PATCH', `/${other.canonical_handle}`, ann.token, { ...change, skills: [] });
  const last = await agents('PATCH', '/me', ann.token, { description: 'mine' });
  const { is_online: _one, ...first } = changed.body;
  const { is_online: _two, ...second } = last.body;
  await mine.waitUntil(() => mine.events().length >= 2);
  await theirs.waitUntil(() => theirs.events().length > 0);
  expect(mine.events().map(({ type, data }) => [type, data])).toEqual([
    ['agent.updated', first],
    ['agent.updated', second],
  ]);
  expect(theirs.events().map(({ type, data }) => [type, data])).toEqual([['agent.updated', first]]);
  await Promise.all([mine.close(), theirs.close()]);
});

test('an agent that is visible but not managed is refused; an invisible agent is not found', async () => {
  const [ann, eve] = await Promise.all([service.agent({ scopes }), owned()]);
  for (const ref of [ann.id, ann.handle]) {
    expect((await agents('GET', `/${ref}`, eve.token)).status).toBe(200);
    expect(outcomeOf(await agents('PATCH', `/${ref}`, eve.token, { paused: true }))).toBe('403 FORBIDDEN');
    expect(outcomeOf(await agents('DELETE', `/${ref}`, eve.token))).toBe('403 FORBIDDEN');
  }
  expect((await agents('GET', '/me', ann.token)).body.paused).toBe(false);
});

test('a profile shows the relation to the viewer, and hides a block by the other side', async () => {
  const [ann, eve] = await Promise.all([service.agent({ scopes }), service.agent({ scopes })]);
  const sister = (await register(ann.token)).body;
  const profile = async (handle: string) => agents('GET', `/${handle.replace('.', '/')}`, ann.token);
  const relationship = async (handle: string) => (await profile(handle)).body.viewer.relationship;
  expect((await profile(sister.canonical_handle)).body).toEqual({
    agent: sister,
    viewer: { relationship: 'same_owner' },
  });
  expect(await relationship(`@${ann.handle.toUpperCase()}`)).toBe('self');
  expect(await relationship(eve.handle)).toBe('none');
  const before = (await profile(eve.handle)).text;
  const insert = (text: string) => service.sql(text, [eve.id, ann.id]);
  await insert('insert into blocks (agent_id, blocked_agent_id, created_at) values ($1, $2, 1)');
  expect((await profile(eve.handle)).text).toBe(before);
  await insert('insert into contacts (agent_id, contact_id, since) values ($2, $1, 1)');
  expect(await relationship(eve.handle)).toBe('contact');
});
