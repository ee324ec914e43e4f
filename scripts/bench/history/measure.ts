import { performance } from 'node:perf_hooks';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { oneLine } from '../../../src/embedded/launcher-error.ts';
import { type KeptConnection, keptConnection } from '../http-client.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import type { Compared } from '../meter.ts';
import { tokenOf } from '../population.ts';
import type { Stage } from '../stage.ts';
import { waitFor } from '../wait-for.ts';
import { beginHistory } from './begin.ts';
import { type Caller, getPage, listKinds, longThreads, type RequestKind } from './requests.ts';
import type { ThreadPlace } from './rows.ts';
import { searchKinds } from './search-kinds.ts';
import { compareSends, type CompareSendsOptions } from './sends.ts';

export interface HistoryMeasureOptions extends CompareSendsOptions {
  /** Sizes of the history, growing. */
  messages: readonly number[];
  /** Of each kind, at each size, with one in flight and again with `in_flight`. */
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

export interface HistoryMeasured {
  threads: number;
  other_threads: number;
  requests: number;
  in_flight: number;
  sizes: { messages: number; load_s: number; timings: Timing[] }[];
  /** At the first size and at the last one; null when there is one size only. */
  sends: Compared | null;
}

const warmUp = 40;
const closing_ms = 30_000;

/** Answer times of reads while the history grows in one database; see docs/performance.md. */
export async function measureHistory(stage: Stage, options: HistoryMeasureOptions): Promise<HistoryMeasured> {
  const { messages, threads, other_threads, requests, in_flight, say, signal } = options;
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  const { reader, history } = await beginHistory(core, options);
  const connection = keptConnection(stage.base);
  const connections = [
    connection,
    ...Array.from({ length: in_flight - 1 }, () => keptConnection(stage.base)),
  ];

  let long: ThreadPlace[] | undefined;

  async function measureSize(size: number) {
    const start = performance.now();
    await history.growTo(size);
    const load_s = Math.round((performance.now() - start) / 100) / 10;
    say(`${size} messages after ${load_s} s more of loading`);
    // A token does not live as long as all of this may take.
    const caller = { base: stage.base, token: await tokenOf(core, reader.handle) };
    const timings: Timing[] = [];
    long ??= longThreads(history);
    const lists = await listKinds(connection, caller, { threads, long });
    for (const kind of [...lists, ...searchKinds(history)]) {
      await ask(connections, caller, kind, warmUp);
      const alone = await ask([connection], caller, kind, requests);
      const together = await ask(connections, caller, kind, requests);
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

  async function ask(lanes: readonly KeptConnection[], caller: Caller, kind: RequestKind, count: number) {
    const times: number[] = [];
    let rows = 0;
    let next = 0;
    async function lane(own: KeptConnection): Promise<void> {
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
      sizes.length < 2 || smallest === undefined ? null : await compareSends(stage, smallest, options);
    return { threads, other_threads, requests, in_flight, sizes, sends };
  } finally {
    for (const each of connections) each.close();
    const closed = Promise.all([history.close(), core.close()]);
    await waitFor('its own connections to close', closing_ms, closed).catch((error: unknown) =>
      say(oneLine(error)),
    );
  }
}
