import { setTimeout as pause } from 'node:timers/promises';
import { compose, type Core } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { waitUntil } from '../../src/shared/wait-until.ts';
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { countFrames, isIdle, countMessages } from '../messages/counts.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { createThreads, type Member, type Thread, issueTokenFor } from '../population.ts';
import { openReceivers } from '../messages/receivers.ts';
import { openSenders } from '../messages/sends.ts';
import type { Environment } from '../environment.ts';
import { type Snapshot, takeSnapshot } from './snapshot.ts';
import { type TableSize, readTableSizes } from './table-sizes.ts';
import { growsBeyondData, isFlat } from './verdict.ts';

export interface SoakOptions {
  minutes: number;
  /** Messages per second. */
  rate: number;
  threads: number;
  log: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

/** One minute of load; the snapshot is taken near its end. */
export interface Minute extends Snapshot {
  minute: number;
  delivery_ms: Percentiles;
}

export interface SoakMeasurement {
  rate: number;
  minutes: Minute[];
  tables: { half_time: TableSize; end: TableSize }[];
  /** Milliseconds from the last response until queue and outbox were empty. */
  drain_ms: number;
  messages: number;
  lost: number;
  duplicated: number;
  /** Memory and tables that grew but should not; empty when the test passes. */
  grown: string[];
}

/** Access tokens expire after 15 minutes: all agents get new ones this often. */
const tokenLifetimeMinutes = 10;
const secondsPerMinute = 60;
const snapshotIntervalSeconds = 55;
const timeoutMs = 60_000;
/** With fewer minutes, the second half is too short to judge. */
const minMinutes = 4;

/** Measures the service under a steady load; see docs/performance.md. @throws when there are too few minutes. */
export async function measureSoak(environment: Environment, options: SoakOptions): Promise<SoakMeasurement> {
  const { minutes: total, rate, signal } = options;
  if (total < minMinutes) throw new Error(`--minutes: at least ${minMinutes}`);
  const config = loadConfig({ ...environment.env, LOG_LEVEL: 'silent' });
  const core = compose(config, 'bench');
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: 2, onError: () => undefined });
  try {
    const threads = await createThreads(core, 'soak', options.threads);
    const minutes: Minute[] = [];
    const counts = { messages: 0, lost: 0, duplicated: 0 };
    let halfTime: TableSize[] = [];
    while (minutes.length < total) {
      const next = minutes.length < half(total) ? half(total) : total;
      const count = Math.min(tokenLifetimeMinutes, next - minutes.length);
      const part = await runMinutes(environment, core, threads, { ...options, from: minutes.length, count });
      minutes.push(...part.minutes);
      counts.messages += part.messages;
      counts.lost += part.lost;
      counts.duplicated += part.duplicated;
      if (minutes.length === half(total)) halfTime = await readTableSizes(database);
    }
    const drain_ms = await waitUntilDrained(core, signal);
    counts.lost += Math.max(0, counts.messages - (await countMessages(database, threads)));
    const tables = await measureGrowth(database, halfTime);
    return { rate, minutes, tables, drain_ms, ...counts, grown: listGrowing(minutes, tables) };
  } finally {
    await database.close();
    await core.close();
  }
}

function half(total: number): number {
  return Math.floor(total / 2);
}

/** Runs some minutes of load with new sockets and tokens. */
async function runMinutes(
  environment: Environment,
  core: Core,
  threads: readonly Thread[],
  { from, count, rate, log, signal, fail }: SoakOptions & { from: number; count: number },
): Promise<Pick<SoakMeasurement, 'minutes' | 'messages' | 'lost' | 'duplicated'>> {
  const members = await renewTokens(core, threads);
  const receivers = await openReceivers(environment.base, members, { signal, lost: fail });
  const sends = openSenders(environment.base, members, receivers, signal);
  const minutes: Minute[] = [];
  try {
    for (let minute = from + 1; minute <= from + count; minute += 1) {
      const snapshotting = pause(snapshotIntervalSeconds * 1_000, undefined, { signal }).then(() =>
        takeSnapshot(environment, core),
      );
      const [delays, snapshot] = await Promise.all([sends.sendAtRate(rate, secondsPerMinute), snapshotting]);
      minutes.push({ minute, delivery_ms: percentiles(delays), ...snapshot });
      const { api, worker, redis, postgres } = snapshot.memory_mb;
      log(`minute ${minute}: API ${api} MB, worker ${worker}, PostgreSQL ${postgres}, Redis ${redis ?? '-'}`);
    }
    const counted = await countFrames(receivers, sends, signal);
    return { minutes, messages: sends.acknowledged.size, ...counted };
  } finally {
    sends.close();
    await receivers.close();
  }
}

async function renewTokens(core: Core, threads: readonly Thread[]): Promise<Thread[]> {
  const renew = async (member: Member) => ({ ...member, token: await issueTokenFor(core, member.handle) });
  const all: Thread[] = [];
  for (const { id, members } of threads) {
    all.push({ id, members: [await renew(members[0]), await renew(members[1])] });
  }
  return all;
}

async function waitUntilDrained(core: Core, signal: AbortSignal): Promise<number> {
  const start = performance.now();
  const empty = await waitUntil(() => isIdle(core), { timeoutMs, intervalMs: 25, signal });
  if (!empty) throw new Error(`queue and outbox are not empty after ${timeoutMs / 1_000} s`);
  return Math.round(performance.now() - start);
}

async function measureGrowth(
  database: Database,
  halfTime: readonly TableSize[],
): Promise<SoakMeasurement['tables']> {
  const before = new Map(halfTime.map((table) => [table.name, table]));
  return (await readTableSizes(database)).map((end) => {
    return { half_time: before.get(end.name) ?? { name: end.name, rows: 0, bytes: 0 }, end };
  });
}

function listGrowing(minutes: readonly Minute[], tables: SoakMeasurement['tables']): string[] {
  const second = minutes.slice(half(minutes.length)).map(({ memory_mb }) => memory_mb);
  const series = {
    API: second.map(({ api }) => api),
    worker: second.map(({ worker }) => worker),
    PostgreSQL: second.map(({ postgres }) => postgres),
    Redis: second.map(({ redis }) => redis ?? 0),
  };
  const memory = Object.entries(series).filter(([, values]) => !isFlat(values));
  const grown = tables.filter(({ half_time, end }) => growsBeyondData(half_time, end));
  return [...memory.map(([name]) => `memory of ${name}`), ...grown.map(({ end }) => `table ${end.name}`)];
}
