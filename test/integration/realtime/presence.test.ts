import { afterEach, expect, onTestFinished, test } from 'vitest';
import { startApi } from '../../../src/api.ts';
import { compose } from '../../../src/compose.ts';
import { createLifecycle } from '../../../src/start/lifecycle.ts';
import { maintenanceHandler } from '../../../workers/maintenance/tasks.ts';
import { callToolRaw } from '../../clients/mcp/client.ts';
import { requestRest } from '../../clients/rest.ts';
import { buildAgent, type TestAgent, useService } from '../../support/service.ts';
import { useContacts } from '../../clients/contacts.ts';
import { connectWebSocket, type WsClient } from '../../clients/websocket.ts';
import { openSseStream } from '../../clients/sse.ts';
import { signInPerson } from '../console/signed-in-person.ts';
import { startTestCluster } from '../../support/cluster/cluster.ts';
import { startRealtimeNode } from '../ws/realtime-node.ts';
import { stopAfterTest } from '../../support/use.ts';

const clients: WsClient[] = [];
afterEach(() => {
  for (const client of clients.splice(0)) client.disconnect();
});
async function connectClient(url: string, token: string): Promise<WsClient> {
  const client = await connectWebSocket(url, { token });
  clients.push(client);
  return client;
}

const service = useService({ worker: false });

/** A second API process on the same database. */
async function secondApi() {
  const { core } = service;
  const lifecycle = createLifecycle(core.logger);
  const { port } = await startApi(compose(core.config, 'second'), lifecycle);
  const stop = () => lifecycle.stop('the test is over');
  onTestFinished(async () => void (await stop()));
  return { url: `http://127.0.0.1:${port}`, stop };
}

async function shown(by: TestAgent, of: TestAgent): Promise<boolean> {
  return (await service.get(by, `/agents/${of.id}`)).body.is_online;
}

test('only agents with a stream are online, in every response', async () => {
  const { api, url } = service;
  const [ada, bob, eve] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  await useContacts({ api }).befriend(ada, bob);
  await useContacts({ api }).befriend(ada, eve);
  const mcp = await service.token(ada.handle, { audience: 'mcp' });
  const get = async (path: string) => (await requestRest('GET', `${api}${path}`, { token: ada.token })).body;
  const byId = (list: { id?: string; agent_id?: string; is_online: boolean }[]) =>
    Object.fromEntries(list.map((each) => [each.id ?? each.agent_id, each.is_online]));
  const [owner, name] = bob.handle.split('.');

  await connectClient(url, bob.token);
  await expect.poll(() => shown(ada, bob)).toBe(true);
  expect(await shown(ada, eve)).toBe(false);
  expect((await get(`/agents/${owner}/${name}`)).agent.is_online).toBe(true);
  expect(byId((await get('/contacts')).contacts)).toEqual({ [bob.id]: true, [eve.id]: false });
  const found = await get(`/search?q=${owner}`);
  expect(byId(found.agents)[bob.id]).toBe(true);
  expect(byId(found.contacts)[bob.id]).toBe(true);
  expect(byId((await get(`/search?q=${eve.handle}`)).contacts)[eve.id]).toBe(false);
  expect(byId((await get(`/search/agents?q=${owner}`)).agents)[bob.id]).toBe(true);
  expect(byId((await get(`/search/directory?q=${owner}`)).agents)[bob.id]).toBe(true);
  const own = (path: string) => requestRest('GET', `${api}${path}`, { token: bob.token });
  expect((await own('/agents/me')).body.is_online).toBe(true);
  expect(byId((await own('/agents')).body.agents)).toEqual({ [bob.id]: true });
  expect(byId((await own('/agents/managed')).body.agents)).toEqual({ [bob.id]: true });
  const renamed = await requestRest('PATCH', `${api}/agents/me`, {
    token: bob.token,
    body: { display_name: 'Bob' },
  });
  expect(renamed.body.is_online).toBe(true);
  const tool = await callToolRaw(url, mcp, 'list_contacts');
  expect(byId(tool.value['contacts'] as never)).toEqual({ [bob.id]: true, [eve.id]: false });
});

test('MCP streams and long polls count too', async () => {
  const [ada, bob, eve] = await Promise.all([service.agent(), service.agent(), service.agent()]);
  const token = await service.token(bob.handle, { audience: 'mcp' });
  stopAfterTest(
    await openSseStream(`${service.url}/mcp`, {
      Authorization: `Bearer ${token}`,
      Accept: 'text/event-stream',
    }),
  );
  const wait = service.get(eve, '/events?wait=20');
  await expect.poll(() => shown(ada, bob)).toBe(true);
  await expect.poll(() => shown(ada, eve)).toBe(true);
  expect((await service.post(ada, '/threads', { with_handle: eve.handle })).status).toBe(201);
  expect((await wait).status).toBe(200);
});

test('people see the presence of their agents and of their contacts', async () => {
  const ada = await signInPerson(service);
  const mine = await ada.agent();
  const friend = await service.agent();
  await useContacts(service).befriend(friend, mine);
  const contacts = `/console/agents/${mine.id}/contacts`;
  expect((await ada.go('/console/agents')).visibleText).not.toContain('Online');
  expect((await ada.go(contacts)).visibleText).not.toContain('Online');
  await connectClient(service.url, friend.token);
  await expect.poll(() => shown(mine, friend)).toBe(true);
  expect((await ada.go('/console/agents')).visibleText).not.toContain('Online');
  expect((await ada.go(contacts)).visibleText).toContain('Online');
  await connectClient(service.url, mine.token);
  await expect.poll(() => shown(mine, mine)).toBe(true);
  expect((await ada.go('/console/agents')).visibleText).toContain('Online');
});

test('an agent in two processes is online until the last one stops, and then immediately offline', async () => {
  const [second, third] = [await secondApi(), await secondApi()];
  const [ada, bob] = await Promise.all([service.agent(), service.agent()]);
  await connectClient(second.url, bob.token);
  await connectClient(third.url, bob.token);
  const nodes = () => service.sql('select node_id from presence where agent_id = $1', [bob.id]);
  await expect.poll(async () => (await nodes()).length).toBe(2);
  expect(await service.core.db.presence.listOnline([ada.id, bob.id])).toEqual(new Set([bob.id]));
  expect(await second.stop()).toBe(true);
  expect(await shown(ada, bob)).toBe(true);
  expect(await third.stop()).toBe(true);
  expect(await shown(ada, bob)).toBe(false);
  expect(await nodes()).toEqual([]);
});

test('agents of a killed process are online until its lease ends, and its rows are removed later', async () => {
  const cluster = await startTestCluster('postgres');
  const { database, db } = cluster.core;
  const api = await cluster.startApi();
  const agent = await buildAgent(cluster.core);
  await connectClient(api.url, agent.token);
  const online = async () => (await db.presence.listOnline([agent.id])).size;
  await expect.poll(online).toBe(1);
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

test('an agent that reconnects stays online; one that does not goes offline', async () => {
  const node = stopAfterTest(
    await startRealtimeNode({
      realtime: { linger_ms: 300, presence_intervals: { heartbeat_ms: 100, batch_wait_ms: 5 } },
    }),
  );
  const [agent, gone] = [await node.agent(), await node.agent()];
  const token = await node.token(agent);
  const { presence } = node.db;
  const first = await connectClient(node.address, token);
  const leaver = await connectClient(node.address, await node.token(gone));
  await expect.poll(() => presence.listOnline([agent, gone])).toEqual(new Set([agent, gone]));
  await first.close();
  const again = await connectClient(node.address, token);
  // An agent that left after the other reconnected and is offline now had at least as much time.
  await leaver.close();
  await expect.poll(() => presence.listOnline([gone])).toEqual(new Set());
  expect(await presence.listOnline([agent])).toEqual(new Set([agent]));
  // A heartbeat repairs the expired lease.
  await node.database.query({ text: 'update presence_nodes set seen_at = seen_at - 20000' }, []);
  await expect.poll(() => presence.listOnline([agent])).toEqual(new Set([agent]));
  await again.close();
  await expect.poll(() => presence.listOnline([agent])).toEqual(new Set());
});

test('streams continue while presence cannot be written, and presence recovers', async () => {
  const node = stopAfterTest(
    await startRealtimeNode({
      realtime: { linger_ms: 0, presence_intervals: { heartbeat_ms: 50, batch_wait_ms: 5 } },
    }),
  );
  const [connected, connecting, disconnecting] = [await node.agent(), await node.agent(), await node.agent()];
  const { presence } = node.db;
  await connectClient(node.address, await node.token(connected));
  const leaving = await connectClient(node.address, await node.token(disconnecting));
  const online = () => presence.listOnline([connected, connecting, disconnecting]);
  await expect.poll(online).toEqual(new Set([connected, disconnecting]));
  const token = await node.token(connecting);
  await node.database.query({ text: 'alter table presence_nodes rename to away' }, []);
  await leaving.close();
  const late = await connectClient(node.address, token);
  await expect.poll(() => node.logged.length).toBe(1);
  await node.emit([connecting], 'received during the outage');
  await late.next(({ data }) => data?.['subject'] === 'received during the outage');
  await node.database.query({ text: 'alter table away rename to presence_nodes' }, []);
  await expect.poll(online).toEqual(new Set([connected, connecting]));
  expect(node.logged).toHaveLength(1);
});
