import { hash } from 'node:crypto';
import { expect, test } from 'vitest';
import { scopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { createCredential } from '../../../../src/services/auth/credentials.ts';
import { followFeed } from '../../../clients/feed.ts';
import { outcomeOf, requestRest, type RestResponse } from '../../../clients/rest.ts';
import { useContacts } from '../../../clients/contacts.ts';
import { type TestAgent, useSharedService } from '../../../support/service.ts';
import { connectWebSocket } from '../../../clients/websocket.ts';

const service = useSharedService();

const sql = <Row extends object>(text: string, values: unknown[] = []) => service.sql<Row>(text, values);

function call(method: string, path: string, token: string, body?: unknown): Promise<RestResponse> {
  return requestRest(method, `${service.api}${path}`, { token, body });
}

/** Two agents of one owner; the first one retires the second. */
async function pair(): Promise<[TestAgent, TestAgent]> {
  const keeper = await service.agent({ scopes });
  const created = await call('POST', '/agents', keeper.token, {
    name: 'second',
    display_name: 'Second',
    visibility: 'public',
    inbound_policy: 'open',
  });
  const { id, canonical_handle: handle } = created.body;
  return [keeper, { id, handle, token: await service.token(handle, { scopes }) }];
}

/** Every kind of connection that an agent can hold open. */
async function openEveryTransport({ handle, token }: TestAgent) {
  const mcp = await service.token(handle, { audience: 'mcp' });
  const headers = { Authorization: `Bearer ${mcp}`, Accept: 'application/json, text/event-stream' };
  const [socket, sse] = await Promise.all([
    connectWebSocket(service.url, { token }),
    fetch(`${service.url}/mcp`, { headers }),
  ]);
  expect(sse.status).toBe(200);
  const poll = call('GET', '/events?wait=30', token);
  // The poll has arrived when the service responds to a later call of the same kind.
  await call('GET', '/agents/me', token);
  return { socket, sse, poll, mcp };
}

async function expectEnded(
  { socket, sse, poll }: Awaited<ReturnType<typeof openEveryTransport>>,
  token: string,
) {
  expect(await socket.closed).toMatchObject({ code: 1008 });
  await sse.text();
  expect((await poll).status).toBe(401);
  await expect.poll(() => call('GET', '/threads', token).then(({ status }) => status)).toBe(401);
  await expect(connectWebSocket(service.url, { token })).rejects.toThrow();
}

test('retirement ends the socket, stream, long poll, tokens, credentials and sessions of an agent', async () => {
  const [keeper, gone] = await pair();
  const credential = await service.write((work) => createCredential(work, { handle: gone.handle, scopes }));
  const mcp = await service.token(gone.handle, { audience: 'mcp' });
  const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 't', version: '1' } };
  const begun = await fetch(`${service.url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${mcp}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params }),
  });
  expect(begun.status).toBe(200);
  await begun.text();
  const held = (table: string) =>
    sql<{ n: number }>(`select count(*)::int as n from ${table} where agent_id = $1`, [gone.id]);
  expect(await held('mcp_sessions')).toEqual([{ n: 1 }]);
  const connections = await openEveryTransport(gone);

  const retired = await call('DELETE', `/agents/${gone.handle}`, keeper.token);
  expect([retired.status, retired.text]).toEqual([204, '']);
  await expectEnded(connections, gone.token);
  expect(await held('access_tokens')).toEqual([{ n: 0 }]);
  expect(await held('mcp_sessions')).toEqual([{ n: 0 }]);
  expect(await sql('select from credentials where agent_id = $1 and revoked_at is null', [gone.id])).toEqual(
    [],
  );
  const basic = Buffer.from(`${credential.client_id}:${credential.client_secret}`).toString('base64');
  const tokenResponse = await fetch(`${service.url}/token`, {
    method: 'POST',
    headers: { Authorization: `Basic ${basic}` },
    body: new URLSearchParams({ grant_type: 'client_credentials' }),
  });
  expect(tokenResponse.status).toBe(401);
});

test('everything also ends when the bus loses the message of the retirement', async () => {
  const [keeper, gone] = await pair();
  const connections = await openEveryTransport(gone);
  const { bus } = service.core;
  const publish = bus.publish;
  const lost: unknown[] = [];
  bus.publish = async (messages) => void lost.push(...messages);
  try {
    expect((await call('DELETE', `/agents/${gone.id}`, keeper.token)).status).toBe(204);
    await expectEnded(connections, gone.token);
  } finally {
    bus.publish = publish;
  }
  expect(JSON.stringify(lost)).toContain(gone.id);
});

test('an agent can retire itself and still gets the response', async () => {
  const [keeper, gone] = await pair();
  expect((await call('DELETE', `/agents/${gone.id}`, gone.token)).status).toBe(204);
  await expect
    .poll(async () => outcomeOf(await call('GET', '/agents/me', gone.token)))
    .toBe('401 UNAUTHORIZED');
  expect((await call('GET', '/agents/me', keeper.token)).status).toBe(200);
});

test('a retired agent is in no list, its handle stays reserved, and it cannot be retired again', async () => {
  const [keeper, gone] = await pair();
  await call('DELETE', `/agents/${gone.id}`, keeper.token);
  for (const path of ['/agents', '/agents/managed']) {
    const { body } = await call('GET', path, keeper.token);
    expect(body.agents.map(({ id }: { id: string }) => id)).toEqual([keeper.id]);
  }
  const again = { name: 'second', display_name: 'Second' };
  expect(outcomeOf(await call('POST', '/agents', keeper.token, again))).toBe('409 DUPLICATE_HANDLE');
  for (const ref of [gone.id, gone.handle]) {
    expect(outcomeOf(await call('DELETE', `/agents/${ref}`, keeper.token))).toBe('404 AGENT_NOT_FOUND');
    expect(outcomeOf(await call('POST', '/threads', keeper.token, { with_handle: ref }))).toBe(
      '404 AGENT_NOT_FOUND',
    );
  }
  const hashes = await sql<{ token_hash: Buffer }>('select token_hash from access_tokens');
  expect(hashes.some(({ token_hash }) => token_hash.equals(hash('sha256', gone.token, 'buffer')))).toBe(
    false,
  );
});

test('messages keep the handle of a retired agent, and the thread keeps it as a member', async () => {
  const [keeper, gone] = await pair();
  const created = await call('POST', '/threads', gone.token, {
    with_handle: keeper.handle,
    initial_message: 'remember me',
  });
  await call('DELETE', `/agents/${gone.id}`, keeper.token);
  const thread = await call('GET', `/threads/${created.body.id}`, keeper.token);
  expect(thread.body.members).toContainEqual({ id: gone.id, canonical_handle: gone.handle });
  const { body } = await call('GET', `/threads/${created.body.id}/messages`, keeper.token);
  expect(body.messages).toMatchObject([
    { content: 'remember me', sender: { id: gone.id, canonical_handle: gone.handle } },
  ]);
});

test('one of two concurrent retirements succeeds, and a concurrent update is either applied before or refused', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [keeper, gone] = await pair();
    const [first, second, change] = await Promise.all([
      call('DELETE', `/agents/${gone.id}`, keeper.token),
      call('DELETE', `/agents/${gone.id}`, keeper.token),
      call('PATCH', `/agents/${gone.id}`, keeper.token, { description: 'late' }),
    ]);
    expect(new Set([first.status, second.status])).toEqual(new Set([204, 404]));
    expect([200, 404]).toContain(change.status);
  }
});

test('the contacts of a retired agent end with an event to the other sides, and pending requests are withdrawn', async () => {
  const [keeper, gone] = await pair();
  const [friend, tokenResponse, asking] = await Promise.all([
    service.agent({ scopes }),
    service.agent({ scopes, inbound_policy: 'contacts_only' }),
    service.agent({ scopes }),
  ]);
  const request = (from: TestAgent, handle: string) =>
    call('POST', '/contacts/requests', from.token, { handle });
  await request(friend, gone.handle);
  expect((await request(gone, friend.handle)).body.status).toBe('approved');
  expect((await request(gone, tokenResponse.handle)).body.status).toBe('pending');
  expect((await request(asking, gone.handle)).body.status).toBe('pending');
  const start = (await call('GET', '/events', friend.token)).body.cursor;

  await call('DELETE', `/agents/${gone.id}`, keeper.token);
  const page = await call('GET', `/events?cursor=${start}`, friend.token);
  expect(page.body.events).toMatchObject([
    { type: 'contact.removed', data: { agent_id: gone.id, canonical_handle: gone.handle } },
  ]);
  expect((await call('GET', '/contacts', friend.token)).body).toEqual({ contacts: [] });
  expect((await call('GET', '/contacts/requests', tokenResponse.token)).body).toEqual({ requests: [] });
  const outgoing = await call('GET', '/contacts/requests?direction=outgoing', asking.token);
  expect(outgoing.body).toEqual({ requests: [] });
  const rows = await sql<{ status: string }>(
    'select distinct status from contact_requests where $1 in (from_agent_id, to_agent_id) order by 1',
    [gone.id],
  );
  expect(rows).toEqual([{ status: 'approved' }, { status: 'withdrawn' }]);
});

test('all contacts receive one event of a retirement, so that its cost is not quadratic', async () => {
  const trust = useContacts(service);
  const ann = await service.agent({ scopes: ['contacts:write', 'agents:write'] });
  const contacts = await Promise.all([service.agent(), service.agent()]);
  for (const contact of contacts) await trust.befriend(contact, ann);
  const feeds = await Promise.all(contacts.map(({ token }) => followFeed(service.api, token)));
  expect((await service.delete(ann, `/agents/${ann.id}`)).status).toBe(204);
  const received = await Promise.all(feeds.map((feed) => feed()));
  expect(received.map((events) => events.map(({ type }) => type))).toEqual([
    ['contact.removed'],
    ['contact.removed'],
  ]);
  expect(new Set(received.flat().map(({ id }) => id)).size).toBe(1);
});
