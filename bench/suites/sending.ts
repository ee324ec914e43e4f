import { measureInTurn, compareRates, type Meter } from '../load/in-turn.ts';
import { openHttpPool } from '../load/http-client.ts';
import { median, type Percentiles, percentiles } from '../load/percentiles.ts';
import { deleteRawJobs, runRawTransaction } from '../load/raw-transaction.ts';
import { runLoad } from '../load/run-load.ts';
import { countMessages, openSenders } from '../load/senders.ts';
import { buildNumberedContent } from '../load/tally.ts';
import { createPairs, type Thread } from '../../scripts/parts/population.ts';
import { type Bench, type Service, startService } from '../start/service.ts';

/** Sends by POST, and the same SQL alone; see docs/performance.md for what each figure means. */
export async function measureSending(bench: Bench, load: { in_flight?: number; threads?: number } = {}) {
  const { options, log, signal } = bench;
  const { seconds, threads: count, in_flight, rate } = { ...options.sending, ...load };
  const service = await startService(bench);
  const threads = await createPairs(service.core, 'bench', count);
  // Separate threads without sockets, because raw transactions are not delivered.
  const rawThreads = await createPairs(service.core, 'bench-raw', count);
  const senders = await openSenders(bench, service, threads);
  const raw = openRawMeter(service, rawThreads, in_flight, signal);
  const sends = senders.meter('sends', in_flight);
  let drain_ms = 0;
  let since = 0;
  const drained: Meter = {
    ...sends,
    async run(duration) {
      const result = await sends.run(duration);
      drain_ms = Math.max(drain_ms, result.drain_ms);
      return result;
    },
  };
  const [alone, sent] = await measureInTurn([raw, drained], {
    seconds,
    log,
    onWarm() {
      drain_ms = 0;
      since = Date.now();
    },
  });
  const index_lag_ms = await readIndexLag(service, since);
  log(`delivery at ${rate} messages/s`);
  const delays = await senders.sendAtRate(rate, seconds);
  await senders.waitUntilIdle();
  const delivery_ms = percentiles(delays);
  const floor_ms = await measureFloor(service, rate, signal);
  const toFloor = (ms: number) => Math.round((100 * ms) / floor_ms) / 100;
  const { messages, lost, duplicated } = await senders.count();
  const missingRows = Math.max(0, messages - (await countMessages(service, threads)));
  return {
    raw_tx_per_s: alone?.per_s ?? Number.NaN,
    send_per_s: sent?.per_s ?? Number.NaN,
    send_ratio: compareRates(sent, alone),
    delivery_ms,
    floor_ms,
    delivery_to_floor: { p50: toFloor(delivery_ms.p50), p95: toFloor(delivery_ms.p95) },
    index_lag_ms,
    drain_ms: Math.round(drain_ms),
    cpu_ms_per_message: sent?.cpu_ms ?? null,
    messages,
    frames: senders.frames(),
    lost: lost + missingRows,
    duplicated,
    backend: options.backend,
    in_flight,
    threads: count,
    steady_per_s: rate,
  };
}

/** Milliseconds from a message to its search row, for messages since a time; null without any. */
async function readIndexLag({ database }: Service, since: number): Promise<Percentiles | null> {
  const percentile = (part: number) =>
    `percentile_disc(${part}) within group (order by indexed_at - created_at)`;
  const text = `select ${percentile(0.5)} as p50, ${percentile(0.95)} as p95, ${percentile(0.99)} as p99
    from message_search where created_at >= $1 having count(*) > 0`;
  return (await database.query<Percentiles>({ text }, [since]))[0] ?? null;
}

/** Milliseconds: the median of a response without data plus the median of a synced INSERT. */
async function measureFloor({ base, database }: Service, rate: number, signal: AbortSignal): Promise<number> {
  const calls = 1_000;
  const api = openHttpPool(base);
  const answers = await runLoad({ rate, calls, signal }, () => api.request({ path: '/livez', token: '-' }));
  api.close();
  await database.query({ text: 'create table bench_floor (content text not null)' }, []);
  const text = 'insert into bench_floor values ($1)';
  const rows = await runLoad({ rate, calls, signal }, () => database.query({ text }, ['x'.repeat(200)]));
  return Math.round(100 * (median(answers.ms) + median(rows.ms))) / 100;
}

/** Transactions with only the SQL of a send. */
function openRawMeter(
  { database }: Service,
  threads: readonly Thread[],
  lanes: number,
  signal: AbortSignal,
): Meter {
  return {
    name: 'the SQL alone',
    async run(seconds) {
      const result = await runLoad({ lanes, seconds, signal }, (number) => {
        const thread = threads[number % threads.length];
        if (!thread) throw new Error('there are no threads');
        return runRawTransaction(database, thread, buildNumberedContent(number));
      });
      await deleteRawJobs(database);
      return result;
    },
  };
}
