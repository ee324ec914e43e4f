import { setTimeout as pause } from 'node:timers/promises';
import { growsBeyondData, isFlat, slopeOf } from '../load/growth.ts';
import { percentiles } from '../load/percentiles.ts';
import { countMessages, openSenders, waitForQueues } from '../load/senders.ts';
import { createPairs, issueTokenFor, type Thread } from '../../scripts/parts/population.ts';
import { type Bench, type Service, startService } from '../start/service.ts';
import {
  readTableSizes,
  type Snapshot,
  type TableSize,
  takeSnapshot,
  toMegabytes,
} from '../start/snapshot.ts';

/** Access tokens expire after 15 minutes: all agents get new ones this often. */
const tokenLifetimeMinutes = 10;
const secondsPerMinute = 60;
/** Near the end of its minute of load. */
const snapshotAfterSeconds = 55;
/** With fewer minutes, the second half is too short to judge. */
const minMinutes = 4;
/** Smaller tables are not reported. */
const minReportedBytes = 1_000_000;
const memoryParts = ['api_mb', 'worker_mb', 'postgres_mb', 'redis_mb'] as const;

/** The service under a steady load; see docs/performance.md. @throws when there are too few minutes. */
export async function measureSoak(bench: Bench) {
  const { minutes: total, rate } = bench.options.soak;
  if (total < minMinutes) throw new Error(`--minutes: at least ${minMinutes}`);
  const service = await startService(bench);
  const threads = await createPairs(service.core, 'soak', bench.options.sending.threads);
  const half = Math.floor(total / 2);
  const minutes = [];
  const counts = { messages: 0, lost: 0, duplicated: 0 };
  let halfTime: TableSize[] = [];
  while (minutes.length < total) {
    const next = minutes.length < half ? half : total;
    const count = Math.min(tokenLifetimeMinutes, next - minutes.length);
    const part = await runMinutes(bench, service, threads, { from: minutes.length, count });
    minutes.push(...part.minutes);
    for (const name of ['messages', 'lost', 'duplicated'] as const) counts[name] += part[name];
    if (minutes.length === half) halfTime = await readTableSizes(service);
  }
  await waitForQueues(service, bench.signal);
  counts.lost += Math.max(0, counts.messages - (await countMessages(service, threads)));
  const before = new Map(halfTime.map((table) => [table.name, table]));
  const tables = (await readTableSizes(service)).map((end) => ({
    end,
    half: before.get(end.name) ?? { name: end.name, rows: 0, bytes: 0 },
  }));
  const second = minutes.slice(half);
  const memory = memoryParts.map((name) => ({ name, values: second.map((minute) => minute[name] ?? 0) }));
  return {
    rate,
    minutes,
    rise_of_second_half: memory.map(({ name, values }) => ({
      name,
      rise: Math.round(slopeOf(values) * 10) / 10,
    })),
    tables: tables
      .filter(({ end }) => end.bytes >= minReportedBytes)
      .map((table) => ({
        name: table.end.name,
        rows: [table.half.rows, table.end.rows],
        mb: [toMegabytes(table.half.bytes), toMegabytes(table.end.bytes)],
      })),
    ...counts,
    /** Memory and tables that grew but should not; empty when the test passes. */
    grown: [
      ...memory.flatMap(({ name, values }) => (isFlat(values) ? [] : [name])),
      ...tables.flatMap((table) =>
        growsBeyondData(table.half, table.end) ? [`table ${table.end.name}`] : [],
      ),
    ],
  };
}

/** Runs some minutes of load with new sockets and tokens. */
async function runMinutes(
  bench: Bench,
  service: Service,
  threads: readonly Thread[],
  { from, count }: { from: number; count: number },
) {
  const { signal, log, options } = bench;
  const senders = await openSenders(bench, service, await renewTokens(service, threads));
  const minutes: ({ minute: number } & Snapshot & ReturnType<typeof percentiles>)[] = [];
  for (let minute = from + 1; minute <= from + count; minute += 1) {
    const snapshotting = pause(snapshotAfterSeconds * 1_000, undefined, { signal }).then(() =>
      takeSnapshot(service),
    );
    const sending = senders.sendAtRate(options.soak.rate, secondsPerMinute);
    const [delays, snapshot] = await Promise.all([sending, snapshotting]);
    minutes.push({ minute, ...snapshot, ...percentiles(delays) });
    log(`minute ${minute}: ${memoryParts.map((name) => `${name} ${snapshot[name] ?? '–'}`).join(', ')}`);
  }
  const counted = await senders.count();
  senders.close();
  return { minutes, ...counted };
}

/** The threads, with new tokens of their members. */
export async function renewTokens({ core }: Service, threads: readonly Thread[]): Promise<Thread[]> {
  const renewed: Thread[] = [];
  for (const { id, members } of threads) {
    const renew = members.map(async (member) => ({
      ...member,
      token: await issueTokenFor(core, member.handle),
    }));
    renewed.push({ id, members: await Promise.all(renew) });
  }
  return renewed;
}
