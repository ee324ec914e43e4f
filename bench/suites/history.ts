import { performance } from 'node:perf_hooks';
import { type History, openHistoryDatabase } from '../history/database.ts';
import { findLongThreads, listRequestKinds, listSearchKinds, type RequestKind } from '../history/requests.ts';
import { createTextGenerator } from '../history/vocabulary.ts';
import { type HttpPool, openHttpPool } from '../load/http-client.ts';
import { compareCost, measureInTurn } from '../load/in-turn.ts';
import { type Percentiles, percentiles } from '../load/percentiles.ts';
import { runLoad } from '../load/run-load.ts';
import { openSenders } from '../load/senders.ts';
import { createMembers, createPairs, issueTokenFor, type Member } from '../../scripts/parts/population.ts';
import { type Bench, type Service, startService } from '../start/service.ts';

/** Milliseconds of one kind of request, with one in flight and with several. */
export interface Timing {
  name: string;
  /** Rows in an answer, on average. */
  rows: number;
  alone: Percentiles;
  together: Percentiles;
}

const readerThreads = 200;
const inFlight = 8;
const warmUpRequests = 40;
/** Agents who write to the reader and to each other. */
const otherAgents = 40;
const sending = { threads: 64, in_flight: 32 };
/** The processes of the grown installation are warm already: they have served all reads. */
const warmUpSeconds = { small: 8, grown: 4 };

/** Response times of reads while the history grows in one database; see docs/performance.md. */
export async function measureHistory(bench: Bench) {
  const { options, log } = bench;
  const { messages, requests } = options.history;
  const service = await startService(bench);
  const { core, base } = service;
  const pool = openHttpPool(base);
  bench.onEnd(pool.close);
  const { reader, history } = await openHistory(bench, service);
  const sizes: { messages: number; load_s: number; timings: Timing[] }[] = [];
  let long: ReturnType<typeof findLongThreads> | undefined;
  for (const size of messages) {
    const start = performance.now();
    await history.growTo(size);
    const load_s = Math.round((performance.now() - start) / 100) / 10;
    log(`${size} messages after ${load_s} s more of loading`);
    // The whole measurement can take longer than the lifetime of a token.
    const token = await issueTokenFor(core, reader.handle);
    long ??= findLongThreads(history);
    const lists = await listRequestKinds(pool, token, { threads: readerThreads, long });
    const timings: Timing[] = [];
    for (const kind of [...lists, ...listSearchKinds(history)]) {
      const run = (lanes: number, calls: number) => timeRequests(bench, pool, token, kind, { lanes, calls });
      await run(inFlight, warmUpRequests);
      const { rows, times: alone } = await run(1, requests);
      const { times: together } = await run(inFlight, requests);
      timings.push({ name: kind.name, rows, alone, together });
    }
    sizes.push({ messages: size, load_s, timings });
  }
  const growth = sizes.at(-1)?.timings.map(({ name, alone }) => {
    const before = sizes[0]?.timings.find((timing) => timing.name === name);
    return { name, p95_ratio: Math.round((alone.p95 / (before?.alone.p95 ?? Number.NaN)) * 100) / 100 };
  });
  const sends = sizes.length < 2 ? null : await compareSends(bench, service, messages[0] ?? 0);
  return { threads: readerThreads, requests, in_flight: inFlight, sizes, growth, sends };
}

/** The kind of search with the greatest 95th percentile, one request in flight. */
export function findSlowestSearch(timings: readonly Timing[]): Timing | undefined {
  const searches = timings.filter(({ name }) => name.startsWith('search'));
  return searches.toSorted((a, b) => b.alone.p95 - a.alone.p95)[0];
}

/** Creates an empty history and the agent that will read it. */
async function openHistory(
  { options, signal, onEnd }: Bench,
  { core }: Service,
): Promise<{ reader: Member; history: History }> {
  const [reader, ...others] = await createMembers(core, 'history', otherAgents + 1);
  if (!reader) throw new Error('there is no reader');
  const history = await openHistoryDatabase({
    url: core.config.DATABASE_URL,
    reader_id: reader.id,
    agent_ids: others.map(({ id }) => id),
    threads: readerThreads,
    other_threads: options.history.other_threads,
    signal,
  });
  onEnd(history.close);
  return { reader, history };
}

async function timeRequests(
  { signal }: Bench,
  pool: HttpPool,
  token: string,
  { paths }: RequestKind,
  load: { lanes: number; calls: number },
): Promise<{ times: Percentiles; rows: number }> {
  let rows = 0;
  const { ms } = await runLoad({ ...load, signal }, async (number) => {
    const body = await pool.request({ path: paths[number % paths.length] ?? '', token });
    const page = JSON.parse(body) as Record<string, unknown[] | undefined>;
    rows += (page['threads'] ?? page['messages'] ?? page['results'] ?? []).length;
  });
  return { times: percentiles(ms), rows: Math.round((rows / ms.length) * 10) / 10 };
}

/**
 * Compares the cost of a send with a history of the smallest size, in a new installation, and with the grown history. Other agents send in
 * other threads. They use the words of the history, because the search index grows with it.
 */
async function compareSends(bench: Bench, grown: Service, smallest: number) {
  const small = await startService(bench);
  const { history } = await openHistory(bench, small);
  await history.growTo(smallest);
  const nextText = createTextGenerator().next;
  const open = async (name: 'small' | 'grown', service: Service) => {
    const threads = await createPairs(service.core, 'sends', sending.threads);
    const senders = await openSenders(bench, service, threads, { nextText });
    return senders.meter(name, sending.in_flight, { warmUp_s: warmUpSeconds[name] });
  };
  const meters = [await open('small', small), await open('grown', grown)];
  const seconds = 3 * bench.options.sending.seconds;
  const loads = await measureInTurn(meters, { seconds, rounds: 3, lead_s: 2, log: bench.log });
  return { cost_ratio: compareCost(loads[0], loads[1]), loads };
}
