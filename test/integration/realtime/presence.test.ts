import { afterAll, afterEach, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { createLifecycle } from '../../../src/platform/lifecycle.ts';
import { maintenanceHandler } from '../../../workers/maintenance.ts';
import { rawCall } from '../../support/mcp-client.ts';
import { rest } from '../../support/rest-client.ts';
import { buildAgent, startService, type TestAgent, type TestService } from '../../support/service.ts';
import { trustOf } from '../../support/trust.ts';
import { connect, type WsClient } from '../../support/ws-client.ts';
import { openSse } from '../mcp/sse-client.ts';
import { signedIn } from '../console/signed-in.ts';
import { startCluster } from '../workers/cluster.ts';
import { startNode } from '../ws/node.ts';

vi.setConfig({ testTimeout: 60_000 });

const clients: WsClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.cut();
});
async function join(url: string, token: string): Promise<WsClient> {
  const client = await connect(url, { token });
  clients.push(client);
  return client;
}

let service: TestService;
beforeAll(async () => {
  service = await startService({ worker: false });
});
afterAll(() => service.stop());

/** A second API process's worth on the same database. */
async function secondApi() {
  const { core } = service;
  const lifecycle = createLifecycle(core.logger);
  const { port } = await startApi(compose(core.config, 'second'), lifecycle);
  const stop = () => lifecycle.stop('the test is over');
  onTestFinished(async () => void (await stop()));
  return { url: `http://127.0.0.1:${port}`, stop };
}

const patience = { timeout: 60_000, interval: 20 };

async function shown(by: TestAgent, of: TestAgent): Promise<boolean> {
  return (await rest('GET', `${service.api}/agents/${of.id}`, { token: by.token })).body.is_online;
}

test('whoever holds a stream is online wherever it is shown, and nobody else is', async () => {
  const { api, url } = service;
  const [ada, bob, eve] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  await trustOf(api).befriend(ada, bob);
  await trustOf(api).befriend(ada, eve);
  const mcp = await service.token(ada.handle, { door: 'mcp' });
  const get = async (path: string) => (await rest('GET', `${api}${path}`, { token: ada.token })).body;
  const byId = (list: { id?: string; agent_id?: string; is_online: boolean }[]) =>
    Object.fromEntries(list.map((each) => [each.id ?? each.agent_id, each.is_online]));
  const [owner, name] = bob.handle.split('.');

  await join(url, bob.token);
  await expect.poll(() => shown(ada, bob), patience).toBe(true);
  expect(await shown(ada, eve)).toBe(false);
  expect((await get(`/agents/${owner}/${name}`)).agent.is_online).toBe(true);
  expect(byId((await get('/contacts')).contacts)).toEqual({ [bob.id]: true, [eve.id]: false });
  const found = await get(`/search?q=${owner}`);
  expect(byId(found.agents)[bob.id]).toBe(true);
  expect(byId(found.contacts)[bob.id]).toBe(true);
  expect(byId((await get(`/search?q=${eve.handle}`)).contacts)[eve.id]).toBe(false);
  expect(byId((await get(`/search/agents?q=${owner}`)).agents)[bob.id]).toBe(true);
  expect(byId((await get(`/search/directory?q=${owner}`)).agents)[bob.id]).toBe(true);
  const own = (path: string) => rest('GET', `${api}${path}`, { token: bob.token });
  expect((await own('/agents/me')).body.is_online).toBe(true);
  expect(byId((await own('/agents')).body.agents)).toEqual({ [bob.id]: true });
  expect(byId((await own('/agents/managed')).body.agents)).toEqual({ [bob.id]: true });
  const renamed = await rest('PATCH', `${api}/agents/me`, {
    token: bob.token,
    body: { display_name: 'Bob' },
  });
  expect(renamed.body.is_online).toBe(true);
  const tool = await rawCall(url, mcp, 'list_contacts');
  expect(byId(tool.value['contacts'] as never)).toEqual({ [bob.id]: true, [eve.id]: false });
});

test('a stream over MCP and a call that waits count as well', async () => {
  const [ada, bob, eve] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  const token = await service.token(bob.handle, { door: 'mcp' });
  const sse = await openSse(`${service.url}/mcp`, {
    Authorization: `Bearer ${token}`,
    Accept: 'text/event-stream',
  });
  onTestFinished(() => sse.close());
  const wait = rest('GET', `${service.api}/events?wait=20`, { token: eve.token });
  await expect.poll(() => shown(ada, bob), patience).toBe(true);
  await expect.poll(() => shown(ada, eve), patience).toBe(true);
  const body = { with_handle: eve.handle };
  expect((await rest('POST', `${service.api}/threads`, { token: ada.token, body })).status).toBe(201);
  expect((await wait).status).toBe(200);
});

test('people see it too: of their agents, and of the contacts of these', async () => {
  const ada = await signedIn(service);
  const mine = await ada.agent();
  const friend = await service.agent();
  await trustOf(service.api).befriend(friend, mine);
  const contacts = `/console/agents/${mine.id}/contacts`;
  expect((await ada.go('/console/agents')).words).not.toContain('Online');
  expect((await ada.go(contacts)).words).not.toContain('Online');
  await join(service.url, friend.token);
  await expect.poll(() => shown(mine, friend), patience).toBe(true);
  expect((await ada.go('/console/agents')).words).not.toContain('Online');
  expect((await ada.go(contacts)).words).toContain('Online');
  await join(service.url, mine.token);
  await expect.poll(() => shown(mine, mine), patience).toBe(true);
  expect((await ada.go('/console/agents')).words).toContain('Online');
});

test('an agent in two processes is online until the last one stops, and then at once offline', async () => {
  const [second, third] = [await secondApi(), await secondApi()];
  const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
  await join(second.url, bob.token);
  await join(third.url, bob.token);
  const nodes = () =>
    service.core.database.query({ text: 'select node_id from presence where agent_id = $1' }, [bob.id]);
  await expect.poll(async () => (await nodes()).length, patience).toBe(2);
  expect(await service.core.repositories.presence.online([ada.id, bob.id])).toEqual(new Set([bob.id]));
  expect(await second.stop()).toBe(true);
  expect(await shown(ada, bob)).toBe(true);
  expect(await third.stop()).toBe(true);
  expect(await shown(ada, bob)).toBe(false);
  expect(await nodes()).toEqual([]);
});

test('a process that is killed keeps nobody online beyond its lease, and is swept away later', async () => {
  const cluster = await startCluster('postgres');
  onTestFinished(() => cluster.stop());
  const { database, repositories } = cluster.core;
  const api = await cluster.api();
  const agent = await buildAgent(cluster.core);
  await join(api.url, agent.token);
  const online = async () => (await repositories.presence.online([agent.id])).size;
  await expect.poll(online, patience).toBe(1);
  const age = (ms: number) =>
    database.query({ text: 'update presence_nodes set seen_at = seen_at - $1::bigint' }, [ms]);
  await api.kill9();
  expect(await online()).toBe(1);
  await age(20_000);
  expect(await online()).toBe(0);
  const sweep = () => maintenanceHandler(cluster.core).handle({ task: 'expire-presence' });
  const rows = () => database.query({ text: 'select from presence' }, []);
  await sweep();
  expect(await rows()).toHaveLength(1);
  await age(60_000);
  await sweep();
  expect(await rows()).toEqual([]);
});

test('whoever comes back soon was never away; who does not is offline', async () => {
  const node = await startNode({ linger_ms: 300, presence_intervals: { beat_ms: 100, gather_ms: 5 } });
  onTestFinished(() => node.stop());
  const [agent, gone] = [await node.agent(), await node.agent()];
  const token = node.token(agent);
  const { presence } = node.repositories;
  const first = await join(node.address, token);
  const leaver = await join(node.address, node.token(gone));
  await expect.poll(() => presence.online([agent, gone]), patience).toEqual(new Set([agent, gone]));
  await first.close();
  const again = await join(node.address, token);
  // Whoever leaves after the other came back, and is offline by now, lingered at least as long.
  await leaver.close();
  await expect.poll(() => presence.online([gone]), patience).toEqual(new Set());
  expect(await presence.online([agent])).toEqual(new Set([agent]));
  // A sign of life makes good what the clock took.
  await node.database.query({ text: 'update presence_nodes set seen_at = seen_at - 20000' }, []);
  await expect.poll(() => presence.online([agent]), patience).toEqual(new Set([agent]));
  await again.close();
  await expect.poll(() => presence.online([agent]), patience).toEqual(new Set());
});

test('while nothing can be written streams go on, and it is made good', async () => {
  const node = await startNode({ linger_ms: 0, presence_intervals: { beat_ms: 50, gather_ms: 5 } });
  onTestFinished(() => node.stop());
  const [stays, comes, goes] = [await node.agent(), await node.agent(), await node.agent()];
  const { presence } = node.repositories;
  await join(node.address, node.token(stays));
  const leaving = await join(node.address, node.token(goes));
  const online = () => presence.online([stays, comes, goes]);
  await expect.poll(online, patience).toEqual(new Set([stays, goes]));
  await node.database.query({ text: 'alter table presence_nodes rename to away' }, []);
  await leaving.close();
  const late = await join(node.address, node.token(comes));
  await expect.poll(() => node.logged.length, patience).toBe(1);
  await node.emit([comes], 'heard all the same');
  await late.next(({ data }) => data?.['subject'] === 'heard all the same');
  await node.database.query({ text: 'alter table away rename to presence_nodes' }, []);
  await expect.poll(online, patience).toEqual(new Set([stays, comes]));
  expect(node.logged).toHaveLength(1);
});
