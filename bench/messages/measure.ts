import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { toOneLine } from '../../src/embedded/launcher-error.ts';
import { type Database, openDatabase } from '../../src/platform/database/database.ts';
import { countFrames, countMessages, waitUntilIdle } from './counts.ts';
import { type CpuTime, cpuTimePerMessage, readCpuTime } from '../cpu-time.ts';
import { keepInFlight, perSecond, type Rate, sumRates } from '../in-flight.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { createThreads, type Thread } from '../population.ts';
import { deleteRawJobs, runRawTransaction } from './raw-transaction.ts';
import { buildNumberedContent, openReceivers } from './receivers.ts';
import { openSenders, type Senders } from './sends.ts';
import type { Backend, Environment } from '../environment.ts';
import { withTimeout } from '../with-timeout.ts';

export interface MeasureOptions {
  backend: Backend;
  /** Of each measurement; (a) and (b) take turns in rounds of half of it. */
  seconds: number;
  threads: number;
  in_flight: number;
  /** Messages a second while their way to the sockets is timed. */
  rate: number;
  log: (line: string) => void;
  signal: AbortSignal;
  /** Ends the measurement when something outside of its calls goes wrong. */
  fail: (reason: Error) => void;
}

export interface SendMeasurement {
  raw_tx_per_s: number;
  send_per_s: number;
  send_ratio: number;
  delivery_ms: Percentiles;
  /** From the sending of the messages of (b) until they could be found; null when none is in the index. */
  index_lag_ms: Percentiles | null;
  lost: number;
  duplicated: number;
  backend: Backend;
  in_flight: number;
  connections: number;
  threads: number;
  messages: number;
  frames: number;
  /** How long queue and outbox took to become empty after the last POST of (b). */
  drain_ms: number;
  steady_per_s: number;
  cpu_ms_per_message: CpuTime | null;
}

const rounds = 2;
const warmUpSeconds = 2;
const shutdownTimeoutMs = 30_000;

/** The whole measurement in an environment that is up; see docs/performance.md for what each figure means. */
export async function measureSending(
  environment: Environment,
  options: MeasureOptions,
): Promise<SendMeasurement> {
  const { backend, seconds, in_flight, rate: steady_per_s, log, signal, fail } = options;
  const config = loadConfig({ ...environment.env, LOG_LEVEL: 'silent' });
  const core = compose(config, 'bench');
  const connections = config.DATABASE_POOL_SIZE;
  const onError = () => undefined;
  const database = openDatabase({ url: config.DATABASE_URL, poolSize: connections, onError });
  const threads = await createThreads(core, 'bench', options.threads);
  // Separate threads without receivers, because raw transactions are not delivered.
  const rawThreads = await createThreads(core, 'bench-raw', options.threads);
  const receivers = await openReceivers(environment.base, threads, { signal, lost: fail });
  const sends = openSenders(environment.base, threads, receivers, signal);

  const runRaw = (duration: number) =>
    runRawTransactions(database, rawThreads, { in_flight, seconds: duration, signal });
  const drain = () => waitUntilIdle(core, signal);

  try {
    log('warming up');
    await sends.sendAtFullSpeed(in_flight, warmUpSeconds);
    await drain();
    await runRaw(warmUpSeconds);

    const since = Date.now();
    const measured = await runRounds(environment, options, { runRaw, sends, drain });
    const lag = await core.repositories.messageSearch.lag(since);
    const send_per_s = perSecond(sumRates(measured.sendRates));
    const raw_tx_per_s = perSecond(sumRates(measured.rawRates));
    log(`delivery at ${steady_per_s} messages/s`);
    const delays = await sends.sendAtRate(steady_per_s, seconds);
    await drain();
    const counted = await countFrames(receivers, sends, signal);
    const rows = await countMessages(database, threads);
    const missingRows = Math.max(0, sends.acknowledged.size - rows);
    return {
      raw_tx_per_s: Math.round(raw_tx_per_s),
      send_per_s: Math.round(send_per_s),
      send_ratio: Math.round((send_per_s / raw_tx_per_s) * 1000) / 1000,
      delivery_ms: percentiles(delays),
      index_lag_ms: lag?.messages
        ? { p50: lag.p50_ms ?? 0, p95: lag.p95_ms ?? 0, p99: lag.p99_ms ?? 0 }
        : null,
      lost: counted.lost + missingRows,
      duplicated: counted.duplicated,
      backend,
      in_flight,
      connections,
      threads: threads.length,
      messages: sends.acknowledged.size,
      frames: receivers.frames(),
      drain_ms: Math.round(Math.max(...measured.drainTimesMs)),
      steady_per_s,
      cpu_ms_per_message: measured.cpuTimes.at(-1) ?? null,
    };
  } finally {
    sends.close();
    const closed = Promise.all([receivers.close(), database.close(), core.close()]);
    await withTimeout('the connections of the benchmark to close', shutdownTimeoutMs, closed).catch(
      (error: unknown) => log(toOneLine(error)),
    );
  }
}

interface RoundParts {
  runRaw: (seconds: number) => Promise<Rate>;
  sends: Senders;
  drain: () => Promise<number>;
}

/** One entry for each round. CPU times are missing where the system does not report them. */
interface RoundMeasurements {
  rawRates: Rate[];
  sendRates: Rate[];
  drainTimesMs: number[];
  cpuTimes: CpuTime[];
}

/** Measures raw transactions (a) and sends (b) alternately, so that both run under similar conditions. */
async function runRounds(
  environment: Environment,
  { seconds, in_flight, log }: MeasureOptions,
  { runRaw, sends, drain }: RoundParts,
): Promise<RoundMeasurements> {
  const measured: RoundMeasurements = { rawRates: [], sendRates: [], drainTimesMs: [], cpuTimes: [] };
  for (let round = 1; round <= rounds; round += 1) {
    const rawRate = await runRaw(seconds / rounds);
    measured.rawRates.push(rawRate);
    const before = readCpuTime(environment);
    const sendRate = await sends.sendAtFullSpeed(in_flight, seconds / rounds);
    measured.sendRates.push(sendRate);
    measured.drainTimesMs.push(await drain());
    const cpuTime = cpuTimePerMessage(before, readCpuTime(environment), sendRate.count);
    if (cpuTime) measured.cpuTimes.push(cpuTime);
    log(`round ${round}: ${describeRate(rawRate)} transactions/s alone, ${describeRate(sendRate)} sends/s`);
  }
  return measured;
}

/** Runs raw transactions for some seconds and deletes their jobs. */
async function runRawTransactions(
  database: Database,
  threads: readonly Thread[],
  { in_flight, seconds, signal }: Pick<MeasureOptions, 'in_flight' | 'seconds' | 'signal'>,
): Promise<Rate> {
  const rate = await keepInFlight(in_flight, seconds, signal, (number) => {
    const thread = threads[number % threads.length];
    if (!thread) throw new Error('there are no threads');
    return runRawTransaction(database, thread, buildNumberedContent(number));
  });
  await deleteRawJobs(database);
  return rate;
}

function describeRate(rate: Rate): string {
  return perSecond(rate).toFixed(0);
}
