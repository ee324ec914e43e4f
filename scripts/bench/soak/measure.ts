import { setTimeout as pause } from 'node:timers/promises';
import { compose, type Core } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { until } from '../../../src/embedded/wait.ts';
import { type Database, openDatabase } from '../../../src/platform/database.ts';
import { countFrames, isIdle, messageRows } from '../count.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { makeThreads, type Member, type Thread, tokenOf } from '../population.ts';
import { openReceivers } from '../receivers.ts';
import { openSends } from '../sends.ts';
import type { Stage } from '../stage.ts';
import { type Look, lookAt } from './look.ts';
import { type TableSize, tableSizes } from './tables.ts';
import { growsBeyondData, isFlat } from './verdict.ts';

export interface SoakOptions {
  minutes: number;
  /** Messages a second. */
  rate: number;
  threads: number;
  say: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
}

/** One minute of load; how the service stands is looked at near its end. */
export interface Minute extends Look {
  minute: number;
  delivery_ms: Percentiles;
}

export interface SoakMeasured {
  rate: number;
  minutes: Minute[];
  tables: { half_time: TableSize; end: TableSize }[];
  /** Milliseconds from the last answer until queue and outbox were empty. */
  drain_ms: number;
  messages: number;
  lost: number;
  duplicated: number;
  /** What grew that should not; nothing when all is well. */
  grown: string[];
}

/** Access tokens live for a quarter of an hour: so often everybody comes back with a new one. */
const minutesOfToken = 10;
const minute_s = 60;
const look_s = 55;
const patience_ms = 60_000;
/** Fewer have no second half to speak of. */
const fewestMinutes = 4;

/** How the service bears a steady load; see docs/performance.md. @throws when there are too few minutes. */
export async function measureSoak(stage: Stage, options: SoakOptions): Promise<SoakMeasured> {
  const { minutes: total, rate, signal } = options;
  if (total < fewestMinutes) throw new Error(`--minutes: at least ${fewestMinutes}`);
  const config = loadConfig({ ...stage.env, LOG_LEVEL: 'silent' });
  const core = compose(config, 'bench');
  const database = openDatabase({ url: config.DATABASE_URL, pool_size: 2, on_error: () => undefined });
  try {
    const threads = await makeThreads(core, 'soak', options.threads);
    const minutes: Minute[] = [];
    const counts = { messages: 0, lost: 0, duplicated: 0 };
    let halfTime: TableSize[] = [];
    while (minutes.length < total) {
      const next = minutes.length < halfOf(total) ? halfOf(total) : total;
      const count = Math.min(minutesOfToken, next - minutes.length);
      const shift = await runShift(stage, core, threads, { ...options, from: minutes.length, count });
      minutes.push(...shift.minutes);
      counts.messages += shift.messages;
      counts.lost += shift.lost;
      counts.duplicated += shift.duplicated;
      if (minutes.length === halfOf(total)) halfTime = await tableSizes(database);
    }
    const drain_ms = await drained(core, signal);
    counts.lost += Math.max(0, counts.messages - (await messageRows(database, threads)));
    const tables = await sinceHalfTime(database, halfTime);
    return { rate, minutes, tables, drain_ms, ...counts, grown: grownIn(minutes, tables) };
  } finally {
    await database.close();
    await core.close();
  }
}

function halfOf(total: number): number {
  return Math.floor(total / 2);
}

/** Some minutes of load on sockets and tokens of their own. */
async function runShift(
  stage: Stage,
  core: Core,
  threads: readonly Thread[],
  { from, count, rate, say, signal, fail }: SoakOptions & { from: number; count: number },
): Promise<Pick<SoakMeasured, 'minutes' | 'messages' | 'lost' | 'duplicated'>> {
  const members = await withNewTokens(core, threads);
  const receivers = await openReceivers(stage.base, members, { signal, lost: fail });
  const sends = openSends(stage.base, members, receivers, signal);
  const minutes: Minute[] = [];
  try {
    for (let minute = from + 1; minute <= from + count; minute += 1) {
      const looking = pause(look_s * 1_000, undefined, { signal }).then(() => lookAt(stage, core));
      const [delays, look] = await Promise.all([sends.steady(rate, minute_s), looking]);
      minutes.push({ minute, delivery_ms: percentiles(delays), ...look });
      const { api, worker, redis, postgres } = look.memory_mb;
      say(`minute ${minute}: API ${api} MB, worker ${worker}, PostgreSQL ${postgres}, Redis ${redis ?? '-'}`);
    }
    const counted = await countFrames(receivers, sends, signal);
    return { minutes, messages: sends.acknowledged.size, ...counted };
  } finally {
    sends.close();
    await receivers.close();
  }
}

async function withNewTokens(core: Core, threads: readonly Thread[]): Promise<Thread[]> {
  const renewed = async (member: Member) => ({ ...member, token: await tokenOf(core, member.handle) });
  const all: Thread[] = [];
  for (const { id, members } of threads) {
    all.push({ id, members: [await renewed(members[0]), await renewed(members[1])] });
  }
  return all;
}

async function drained(core: Core, signal: AbortSignal): Promise<number> {
  const start = performance.now();
  const empty = await until(() => isIdle(core), { within: patience_ms, every: 25, signal });
  if (!empty) throw new Error(`queue and outbox are not empty after ${patience_ms / 1_000} s`);
  return Math.round(performance.now() - start);
}

async function sinceHalfTime(
  database: Database,
  halfTime: readonly TableSize[],
): Promise<SoakMeasured['tables']> {
  const before = new Map(halfTime.map((table) => [table.name, table]));
  return (await tableSizes(database)).map((end) => {
    return { half_time: before.get(end.name) ?? { name: end.name, rows: 0, bytes: 0 }, end };
  });
}

function grownIn(minutes: readonly Minute[], tables: SoakMeasured['tables']): string[] {
  const second = minutes.slice(halfOf(minutes.length)).map(({ memory_mb }) => memory_mb);
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
