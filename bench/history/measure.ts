import { performance } from 'node:perf_hooks';
import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { toOneLine } from '../../src/embedded/launcher-error.ts';
import { type KeepAliveConnection, openKeepAliveConnection } from '../http-client.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import type { CostComparison } from '../cost-comparison.ts';
import { issueTokenFor } from '../population.ts';
import type { Environment } from '../environment.ts';
import { withTimeout } from '../with-timeout.ts';
import { prepareHistory } from './prepare.ts';
import { type Caller, getPage, listRequestKinds, findLongThreads, type RequestKind } from './requests.ts';
import type { ThreadPosition } from './rows.ts';
import { listSearchKinds } from './search-requests.ts';
import { compareSends, type CompareSendsOptions } from './sends.ts';

export interface HistoryMeasureOptions extends CompareSendsOptions {
  /** Sizes of the history, increasing. */
  messages: readonly number[];
  /** Requests of each kind at each size, with one in flight and again with `in_flight`. */
  requests: number;
  in_flight: number;
}

/** Milliseconds of one kind of request, with one in flight and with several. */
export interface Timing {
  name: string;
  /** Rows in an answer, on average. */
  rows: number;
  alone: Percentiles;
  together: Percentiles;
}

export interface HistoryMeasurement {
  threads: number;
  other_threads: number;
  requests: number;
  in_flight: number;
  sizes: { messages: number; load_s: number; timings: Timing[] }[];
  /** At the first and the last size; null when there is only one size. */
  sends: CostComparison | null;
}

const warmUpRequests = 40;
const shutdownTimeoutMs = 30_000;

/** Response times of reads while the history grows in one database; see docs/performance.md. */
export async function measureHistory(
  environment: Environment,
  options: HistoryMeasureOptions,
): Promise<HistoryMeasurement> {
  const { messages, threads, other_threads, requests, in_flight, log, signal } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const { reader, history } = await prepareHistory(core, options);
  const connection = openKeepAliveConnection(environment.base);
  const connections = [
    connection,
    ...Array.from({ length: in_flight - 1 }, () => openKeepAliveConnection(environment.base)),
  ];

  let long: ThreadPosition[] | undefined;

  async function measureSize(size: number) {
    const start = performance.now();
    await history.growTo(size);
    const load_s = Math.round((performance.now() - start) / 100) / 10;
    log(`${size} messages after ${load_s} s more of loading`);
    // The whole measurement can take longer than the lifetime of a token.
    const caller = { base: environment.base, token: await issueTokenFor(core, reader.handle) };
    const timings: Timing[] = [];
    long ??= findLongThreads(history);
    const lists = await listRequestKinds(connection, caller, { threads, long });
    for (const kind of [...lists, ...listSearchKinds(history)]) {
      await measureRequests(connections, caller, kind, warmUpRequests);
      const alone = await measureRequests([connection], caller, kind, requests);
      const together = await measureRequests(connections, caller, kind, requests);
      const { name } = kind;
      timings.push({
        name,
        rows: alone.rows,
        alone: percentiles(alone.times),
        together: percentiles(together.times),
      });
    }
    return { messages: size, load_s, timings };
  }

  async function measureRequests(
    lanes: readonly KeepAliveConnection[],
    caller: Caller,
    kind: RequestKind,
    count: number,
  ) {
    const times: number[] = [];
    let rows = 0;
    let next = 0;
    async function lane(own: KeepAliveConnection): Promise<void> {
      while (next < count && !signal.aborted) {
        const path = kind.paths[next++ % kind.paths.length] ?? '';
        const start = performance.now();
        const page = await getPage(own, caller, path);
        times.push(performance.now() - start);
        rows += (page.threads ?? page.messages ?? page.results ?? []).length;
      }
    }
    await Promise.all(lanes.map(lane));
    signal.throwIfAborted();
    return { times, rows: Math.round((rows / times.length) * 10) / 10 };
  }

  try {
    const sizes = [];
    for (const size of messages) sizes.push(await measureSize(size));
    const [smallest] = messages;
    const sends =
      sizes.length < 2 || smallest === undefined ? null : await compareSends(environment, smallest, options);
    return { threads, other_threads, requests, in_flight, sizes, sends };
  } finally {
    for (const each of connections) each.close();
    const closed = Promise.all([history.close(), core.close()]);
    await withTimeout('the connections of the benchmark to close', shutdownTimeoutMs, closed).catch(
      (error: unknown) => log(toOneLine(error)),
    );
  }
}
