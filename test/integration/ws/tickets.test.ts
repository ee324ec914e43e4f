import { expect, onTestFinished, test } from 'vitest';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';
import { createCredential } from '../../../src/services/auth/credentials.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { outcomeOf, requestRest } from '../../clients/rest.ts';
import { buildAgent, useSharedService } from '../../support/service.ts';
import { connectWebSocket, refused } from '../../clients/websocket.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';

const service = useSharedService();

const ask = (token: string, api = service.api) =>
  requestRest('POST', `${api}/realtime/tickets`, { token, key: null, body: {} });

async function ticketOf(token: string): Promise<string> {
  const { status, body } = await ask(token);
  expect(status).toBe(201);
  return body.ticket;
}

const unauthorized = { status: 401, body: { error: { code: 'UNAUTHORIZED' } } };

test('a ticket opens one connection, as the agent of its token and with a cursor of that agent', async () => {
  const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
  const before = Date.now();
  const answer = await ask(ada.token);
  expect(answer.status).toBe(201);
  expect(answer.body).toEqual({
    ticket: expect.stringMatching(/^[\w-]{43}$/),
    expires_at: expect.toSatisfy((at: number) => at > before + 59_000 && at <= Date.now() + 60_000),
  });
  expect(answer.headers.get('cache-control')).toBe('no-store');
  const { cursor } = (await service.get(ada, '/events')).body;
  await service.post(ada, '/threads', { with_handle: bob.handle });

  const client = await connectWebSocket(service.url, { ticket: answer.body.ticket, cursor });
  expect(client.ready).toMatchObject({ agent_id: ada.id, resumed: true });
  await client.next(({ type }) => type === 'thread.created');
  await client.close();
  const again = await refused(service.url, { ticket: answer.body.ticket });
  expect(again).toMatchObject(unauthorized);
  expect(again.headers['www-authenticate']).toContain('error="invalid_token"');
  // Tickets that were not issued are refused, and a ticket is not a token.
  for (const ticket of ['', 'x', 'A'.repeat(43), 'A'.repeat(10_000), ada.token]) {
    expect(await refused(service.url, { ticket })).toMatchObject(unauthorized);
  }
  expect(await refused(service.url, { token: await ticketOf(ada.token) })).toMatchObject(unauthorized);
});

test('a ticket used concurrently at two processes works once', async () => {
  const lifecycle = createLifecycle(service.core.logger);
  const { port } = await startApi(compose(service.core.config, 'second'), lifecycle);
  onTestFinished(async () => void (await lifecycle.stop('the test is over')));
  const { token } = await service.agent();
  for (let round = 0; round < 3; round += 1) {
    const ticket = await ticketOf(token);
    const addresses = [service.url, `http://127.0.0.1:${port}`, service.url, `http://127.0.0.1:${port}`];
    const tries = await Promise.allSettled(addresses.map((address) => connectWebSocket(address, { ticket })));
    const opened = tries.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    expect(opened).toHaveLength(1);
    await opened[0]?.close();
  }
});

test('a handshake that is refused for another reason uses up no ticket; a token has precedence over a ticket', async () => {
  const { token } = await service.agent();
  const ticket = await ticketOf(token);
  expect(await refused(service.url, { ticket, path: `/other` })).toMatchObject({ status: 404 });
  const beside = await connectWebSocket(service.url, { ticket, token });
  await beside.close();
  const client = await connectWebSocket(service.url, { ticket });
  await client.close();
});

test('a ticket ends after a minute, with its token, and with its agent', async () => {
  const { core } = service;
  const { token } = await service.agent();
  const old = await ticketOf(token);
  await core.database.query({ text: 'update stream_tickets set expires_at = $1' }, [Date.now() - 1]);
  expect(await refused(service.url, { ticket: old })).toMatchObject(unauthorized);

  const agent = await service.agent();
  const short = await service.token(agent.handle, { expires_in: 30 });
  expect((await ask(short)).body.expires_at).toBeLessThanOrEqual(Date.now() + 30_000);

  const { client_id, client_secret } = await credentialOf(agent.handle);
  const headers = { Authorization: `Basic ${btoa(`${client_id}:${client_secret}`)}` };
  const post = (path: string, body: Record<string, string>) =>
    fetch(`${service.url}${path}`, { method: 'POST', headers, body: new URLSearchParams(body) });
  const issued = await post('/token', { grant_type: 'client_credentials' });
  const { access_token } = (await issued.json()) as { access_token: string };
  const ofRevoked = await ticketOf(access_token);
  expect((await post('/revoke', { token: access_token })).status).toBe(200);
  await expect.poll(async () => (await ask(access_token)).status).toBe(401);
  expect(await refused(service.url, { ticket: ofRevoked })).toMatchObject(unauthorized);

  const ofRetired = await ticketOf(agent.token);
  const gone = await service.delete(
    { token: await service.token(agent.handle, { scopes: ['agents:write'] }) },
    `/agents/${agent.id}`,
  );
  expect(gone.status).toBe(204);
  await expect.poll(async () => (await ask(agent.token)).status).toBe(401);
  expect(await refused(service.url, { ticket: ofRetired })).toMatchObject(unauthorized);
});

async function credentialOf(handle: string) {
  return service.write((work) => createCredential(work, { handle, scopes: ['threads:read'], name: '' }));
}

test('a connection opened by a ticket ends with the token', async () => {
  const agent = await service.agent();
  const token = await service.token(agent.handle, { expires_in: 2 });
  const client = await connectWebSocket(service.url, { ticket: await ticketOf(token) });
  expect(await client.closed).toMatchObject({ code: 1008 });
});

test('a ticket needs an API token that can see events', async () => {
  const agent = await service.agent();
  for (const audience of ['ws', 'mcp'] as const) {
    expect((await ask(await service.token(agent.handle, { audience }))).status).toBe(401);
  }
  expect((await ask('unknown')).status).toBe(401);
  const blind = await service.token(agent.handle, { scopes: ['threads:write'] });
  const refusal = await ask(blind);
  expect(outcomeOf(refusal)).toBe('403 INSUFFICIENT_SCOPE');
  expect(refusal.headers.get('www-authenticate')).toContain('scope="realtime:read"');
  const watching = await service.token(agent.handle, { scopes: ['conversations:read'] });
  await ticketOf(watching);
  const url = `${service.api}/realtime/tickets`;
  expect((await requestRest('POST', url, { token: agent.token, body: { ttl: 1_000 } })).status).toBe(400);
  // It shows what its token shows.
  const narrow = await service.token(agent.handle, { scopes: ['contacts:read'] });
  const client = await connectWebSocket(service.url, { ticket: await ticketOf(narrow) });
  const other = await service.agent();
  await service.post(other, '/threads', { with_handle: agent.handle });
  await service.post(other, '/contacts/requests', { handle: agent.handle });
  await client.next(({ type }) => type === 'contact.request');
  expect(client.events().map(({ type }) => type)).toEqual(['contact.request']);
  await client.close();
});

test('only hashes of tickets are stored, none is logged, and old ones are removed', async () => {
  const cluster = await startTestCluster('postgres');
  const api = await cluster.startApi({ LOG_LEVEL: 'trace' });
  const { token } = await buildAgent(cluster.core);
  const tickets: string[] = [];
  for (let count = 0; count < 2; count += 1) {
    tickets.push((await ask(token, `${api.url}/v1`)).body.ticket);
  }
  const [used = '', left = ''] = tickets;
  const client = await connectWebSocket(api.url, { ticket: used });
  await client.close();
  expect(await refused(api.url, { ticket: used })).toMatchObject(unauthorized);
  expect(await refused(api.url, { ticket: left, cursor: 'nonsense' })).toMatchObject({ status: 400 });
  const last = (await ask(token, `${api.url}/v1`)).body.ticket as string;
  const dump = async () =>
    JSON.stringify(await cluster.core.database.query({ text: 'select * from stream_tickets' }, []));
  expect(await dump()).not.toBe('[]');
  for (const ticket of [...tickets, last]) {
    expect(await dump()).not.toContain(ticket);
    expect(api.log()).not.toContain(ticket);
  }
  await cluster.core.database.query({ text: 'update stream_tickets set expires_at = 1' }, []);
  await maintenanceHandler(cluster.core).handle({ task: 'expire-tokens' });
  expect(await dump()).toBe('[]');
});
