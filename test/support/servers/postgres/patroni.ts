import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readFile, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { vi } from 'vitest';
import { migrateForward } from '../../../../src/platform/database/migrations.ts';
import { findFreePort } from '../../free-port.ts';
import { queryOnce } from './database.ts';
import { findDebianPostgres } from './debian.ts';
import { createTestNetwork, type NodeNetwork } from './patroni-network.ts';
import {
  cleanUpOnExit,
  createFolder,
  createStarter,
  diskBytes,
  type Starter,
  signalProcesses,
} from './patroni-processes.ts';
import { nodeSettings } from './patroni-settings.ts';

const programs = { patroni: '/usr/bin/patroni', etcd: '/usr/bin/etcd', haproxy: '/usr/sbin/haproxy' };
const balancerSettings = join(import.meta.dirname, '../../../../deploy/haproxy/postgres.cfg');
/** A node that is frozen or cut off does not answer. */
const queryLimits = { connectionTimeoutMillis: 2_000, query_timeout: 5_000 };
const waitOptions = { timeout: 90_000, interval: 100 };

/** Why no PostgreSQL with a standby under Patroni can run here, or undefined. */
export async function findMissingPatroni(): Promise<string | undefined> {
  const missing = Object.entries(programs).flatMap(([name, path]) => (existsSync(path) ? [] : [name]));
  if ((await findDebianPostgres()) === undefined) missing.push('postgresql');
  if (process.platform !== 'linux') missing.push('Linux');
  if (missing.length === 0) return undefined;
  return `not installed: ${missing.join(', ')} (apt-get install patroni etcd-server haproxy postgresql)`;
}

export interface PatroniOptions {
  /** Whether a commit waits for the standby. */
  isSynchronous: boolean;
  /** Gives each server a network namespace, which takes root. */
  hasNetwork?: boolean;
  /** Puts the write-ahead log of each server on a disk of 128 MiB, which takes root. */
  hasSmallDisks?: boolean;
}

/** A PostgreSQL server with its Patroni. */
export interface PatroniNode {
  name: string;
  /** Runs one statement on this server, whichever role it has. */
  query(sql: string): Promise<pg.QueryResult>;
  /** Ends Patroni and PostgreSQL without warning. */
  kill9(): void;
  /** Stops all its processes in the middle of their work, until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** Starts Patroni again after `kill9`; it rejoins as a standby. */
  restart(): void;
  cutNetwork(): Promise<void>;
  restoreNetwork(): Promise<void>;
  fillDisk(): Promise<void>;
  emptyDisk(): Promise<void>;
}

export interface PatroniCluster {
  /** Of the database with the schema, through the balancer: always the primary. */
  url: string;
  /** The primary as the balancer sees it. */
  primary(): Promise<PatroniNode>;
  other(node: PatroniNode): PatroniNode;
  /** Resolves when one server is the primary and the other one streams from it. */
  waitUntilWhole(): Promise<void>;
  /** Moves the primary by hand. */
  switchover(): Promise<void>;
  stop(): Promise<void>;
}

/**
 * A primary and a standby under Patroni, with etcd, and HAProxy in front, as docs/operations.md describes. Everything ends with the test
 * process, however that ends.
 */
export async function startPatroni(options: PatroniOptions): Promise<PatroniCluster> {
  const binaries = (await findDebianPostgres()) ?? '';
  const folder = await mkdtemp(join(tmpdir(), 'ams-patroni-'));
  const prefix = options.hasNetwork ? `ams${process.pid % 100_000}` : '';
  const stop = cleanUpOnExit(folder, prefix);
  try {
    await chmod(folder, 0o755);
    const network = await createTestNetwork(prefix);
    const start = createStarter(folder);
    const etcd = await startEtcd(start, network.host);
    const places = await Promise.all(
      (['a', 'b'] as const).map(async (name) => {
        const ports = { postgres: await findFreePort(), rest: await findFreePort() };
        return { name, host: network.hosts[name], ...ports };
      }),
    );
    const nodes: PatroniNode[] = [];
    for (const place of places) {
      const settings = nodeSettings({ ...place, etcd, binaries, folder: join(folder, place.name), options });
      await createFolder(join(folder, place.name), options.hasSmallDisks === true);
      nodes.push(startNode({ folder: join(folder, place.name), network, start, place, settings }));
      // The first one becomes the primary.
      if (nodes.length === 1) await vi.waitFor(() => nodes[0]?.query('create database ams'), waitOptions);
    }
    const cluster = describeCluster(nodes, places, options.isSynchronous);
    await cluster.waitUntilWhole();
    const port = await findFreePort();
    await start('haproxy', programs.haproxy, ['-db', '-f', balancerSettings], {
      env: Object.fromEntries([
        ['POSTGRES_BIND', `127.0.0.1:${port}`],
        ...places.flatMap(({ host, postgres, rest }, index) => [
          [`POSTGRES_${index + 1}`, `${host}:${postgres}`],
          [`PATRONI_PORT_${index + 1}`, String(rest)],
        ]),
      ]),
    });
    // Until its first checks it also uses the standby.
    await vi.waitFor(async () => {
      const log = await readFile(join(folder, 'haproxy/log'), 'utf8');
      if (!log.includes('is DOWN')) throw new Error('HAProxy has not checked the servers');
    }, waitOptions);
    const url = `postgres://ams:ams@127.0.0.1:${port}/ams`;
    await migrateForward(url);
    return { ...cluster, url, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Place {
  name: 'a' | 'b';
  host: string;
  postgres: number;
  rest: number;
}

async function startEtcd(start: Starter, host: string): Promise<string> {
  const [client, peer] = [await findFreePort(), await findFreePort()];
  const [clients, peers] = [`http://${host}:${client}`, `http://${host}:${peer}`];
  await start('etcd', programs.etcd, [
    '--unsafe-no-fsync',
    '--data-dir=data',
    '--name=default',
    `--listen-client-urls=${clients}`,
    `--advertise-client-urls=${clients}`,
    `--listen-peer-urls=${peers}`,
    `--initial-advertise-peer-urls=${peers}`,
    `--initial-cluster=default=${peers}`,
  ]);
  await vi.waitFor(async () => {
    if (!(await fetch(`${clients}/health`)).ok) throw new Error('etcd is not healthy');
  }, waitOptions);
  return `${host}:${client}`;
}

interface NodeParts {
  folder: string;
  network: NodeNetwork;
  start: Starter;
  place: Place;
  settings: object;
}

function startNode({ folder, network, start, place, settings }: NodeParts): PatroniNode {
  const file = join(folder, 'patroni.json');
  const filler = join(folder, 'disk/filler');
  const { name, host, postgres } = place;
  const signal = (kind: NodeJS.Signals) => signalProcesses(folder, kind);
  const launch = () => void start(name, programs.patroni, [file], { wrapper: network.wrapper(name) });
  void writeFile(file, JSON.stringify(settings)).then(launch);
  return {
    name,
    query: (sql) => queryOnce(`postgres://ams:ams@${host}:${postgres}/postgres`, sql, queryLimits),
    kill9: () => signal('SIGKILL'),
    freeze: () => signal('SIGSTOP'),
    thaw: () => signal('SIGCONT'),
    restart: launch,
    cutNetwork: () => network.cut(name),
    restoreNetwork: () => network.restore(name),
    async fillDisk() {
      await writeFile(filler, Buffer.alloc(diskBytes)).catch((error: unknown) => {
        if (Object(error).code !== 'ENOSPC') throw error;
      });
    },
    emptyDisk: () => truncate(filler),
  };
}

function describeCluster(nodes: readonly PatroniNode[], places: readonly Place[], isSynchronous: boolean) {
  const read = async ({ host, rest }: Place, path: string) => {
    const answer = await fetch(`http://${host}:${rest}${path}`, { signal: AbortSignal.timeout(5_000) });
    return (await answer.json()) as { role?: string; members?: { name: string; role: string }[] };
  };
  const placeOf = (node: PatroniNode): Place => {
    const found = places.find(({ name }) => name === node.name);
    if (!found) throw new Error(`no server ${node.name}`);
    return found;
  };
  const other = (node: PatroniNode) => {
    const found = nodes.find((each) => each !== node);
    if (!found) throw new Error('there are two servers');
    return found;
  };
  async function primary(): Promise<PatroniNode> {
    const all = await Promise.all(places.map((place) => read(place, '/patroni').catch(() => undefined)));
    const found = nodes[all.findIndex((each) => each?.role === 'master' || each?.role === 'primary')];
    if (!found) throw new Error(`no primary: ${JSON.stringify(all)}`);
    return found;
  }
  return {
    primary,
    other,
    waitUntilWhole: () =>
      vi.waitFor(async () => {
        const first = await primary();
        const { rows } = await first.query(
          `select sync_state from pg_stat_replication where state = 'streaming' and application_name in ('a', 'b')`,
        );
        const { members = [] } = await read(placeOf(first), '/cluster');
        const isKnown = members.some(({ role }) => role === (isSynchronous ? 'sync_standby' : 'replica'));
        if (rows[0]?.sync_state !== (isSynchronous ? 'sync' : 'async') || !isKnown)
          throw new Error(`the standby does not follow: ${JSON.stringify(rows)}`);
      }, waitOptions),
    async switchover() {
      const from = await primary();
      const { host, rest } = placeOf(from);
      const answer = await fetch(`http://${host}:${rest}/switchover`, {
        method: 'POST',
        body: JSON.stringify({ leader: from.name, candidate: other(from).name }),
      });
      if (!answer.ok) throw new Error(`no switchover: ${answer.status} ${await answer.text()}`);
    },
  };
}
