import { Command, Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { findFreePort } from '../../free-port.ts';
import { startTestRedis, type TestRedis } from './server.ts';

export interface ClusterNode extends TestRedis {
  /** Where the nodes talk to each other. */
  bus_port: number;
  /** A connection to this node, past the cluster. */
  client: Redis;
}

export interface TestRedisCluster {
  /** With the password, and the first two of the six nodes. */
  url: string;
  /** The same with TLS; undefined unless that was asked for. */
  tls_url: string | undefined;
  /** Three masters, then a replica of each, at the start. */
  nodes: readonly ClusterNode[];
  /** The node that is master of the slot of this key. Waits until all nodes are there and agree. */
  findMaster(key: string): Promise<ClusterNode>;
  /** Hands the slot of this key, which must be empty, to another master. */
  moveSlot(key: string): Promise<ClusterNode>;
  stop(): Promise<void>;
}

/** Characters that are escaped in an address. */
const password = 'p@ss:w/rd%';
const waitOptions = { timeout: 60_000, interval: 50 };

/**
 * A real Redis Cluster on loopback: three masters, each with a replica, behind a password. A master that is killed has an heir a few
 * seconds later. Nothing is written to disk. With `tls` the nodes speak that among
 * themselves, and to callers on another port; who comes with it is told of those ports.
 */
export async function startTestRedisCluster({ tls = false } = {}): Promise<TestRedisCluster> {
  const nodes = await Promise.all(Array.from({ length: 6 }, () => startNode(tls)));
  const [first] = nodes;
  if (!first) throw new Error('a cluster has a first node');
  const masters = nodes.slice(0, 3);
  const replicas = nodes.slice(3);

  // Epochs that differ from the start: otherwise the nodes have to agree on that first.
  await Promise.all(nodes.map(({ client }, index) => client.cluster('SET-CONFIG-EPOCH', index + 1)));
  await Promise.all(
    masters.map(({ client }, index) => {
      const [from, to] = [Math.ceil((index * 16_384) / 3), Math.ceil(((index + 1) * 16_384) / 3) - 1];
      return client.cluster('ADDSLOTSRANGE', from, to);
    }),
  );
  for (const { client } of nodes.slice(1))
    await client.call('CLUSTER', 'MEET', '127.0.0.1', first.tls_port || first.port, first.bus_port);
  await vi.waitFor(async () => {
    for (const node of nodes) expect(await listKnownNodes(node)).toBe(nodes.length);
  }, waitOptions);
  await Promise.all(
    replicas.map(async ({ client }, index) => {
      const id = await masters[index]?.client.cluster('MYID');
      await client.cluster('REPLICATE', String(id));
    }),
  );
  async function allWell(): Promise<void> {
    await vi.waitFor(async () => {
      for (const node of nodes) expect(await isHealthy(node)).toBe(true);
    }, waitOptions);
  }
  await allWell();

  async function findMaster(key: string): Promise<ClusterNode> {
    await allWell();
    const slot = slotOf(key);
    const ranges = (await first?.client.cluster('SLOTS')) ?? [];
    const port = ranges.find(([from, to]) => from <= slot && slot <= to)?.[2]?.[1];
    const master = nodes.find((node) => node.port === port);
    if (!master) throw new Error(`no master of slot ${slot}`);
    return master;
  }

  return {
    url: addressOf('redis', [first.port, masters[1]?.port]),
    tls_url: tls ? addressOf('rediss', [first.tls_port, masters[1]?.tls_port]) : undefined,
    nodes,
    findMaster,
    async moveSlot(key) {
      const owner = await findMaster(key);
      const all = await Promise.all(
        nodes.map(async (node) => ({ node, role: (await node.client.role())[0] })),
      );
      const ownersOfSlots = all.filter(({ role }) => role === 'master').map(({ node }) => node);
      const heir = ownersOfSlots.find((node) => node !== owner) ?? owner;
      const id = await heir.client.cluster('MYID');
      // The new master first, so that there is always one.
      for (const { client } of [heir, ...ownersOfSlots.filter((node) => node !== heir)])
        await client.cluster('SETSLOT', slotOf(key), 'NODE', id);
      return heir;
    },
    async stop() {
      for (const { client } of nodes) client.disconnect();
      await Promise.all(nodes.map((node) => node.stop()));
    },
  };
}

function slotOf(key: string): number {
  return new Command('get', [key]).getSlot();
}

function addressOf(scheme: string, ports: readonly (number | undefined)[]): string {
  const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
  return `${scheme}+cluster://:${encodeURIComponent(password)}@${hosts}`;
}

async function startNode(tls: boolean): Promise<ClusterNode> {
  const bus_port = await findFreePort();
  const settings = {
    'cluster-enabled': 'yes',
    'cluster-port': String(bus_port),
    'cluster-node-timeout': '2000',
    requirepass: password,
    masterauth: password,
    ...(tls && { 'tls-cluster': 'yes', 'tls-replication': 'yes' }),
  };
  const server = await startTestRedis({ settings, tls });
  const client = new Redis({ host: '127.0.0.1', port: server.port, password });
  // A node that is killed on purpose is no news.
  client.on('error', () => undefined);
  return { ...server, bus_port, client };
}

async function listKnownNodes({ client }: ClusterNode): Promise<number> {
  return Number(/cluster_known_nodes:(\d+)/.exec(await client.cluster('INFO'))?.[1]);
}

/** It knows all slots, and as a replica it has its master's data. */
async function isHealthy({ client }: ClusterNode): Promise<boolean> {
  if (!(await client.cluster('INFO')).includes('cluster_state:ok')) return false;
  const replication = await client.info('replication');
  return replication.includes('role:master')
    ? replication.includes('connected_slaves:1')
    : replication.includes('master_link_status:up');
}
