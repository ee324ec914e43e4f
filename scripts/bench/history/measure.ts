import { performance } from 'node:perf_hooks';
import { compose } from '../../../src/compose.ts';
import { loadConfig } from '../../../src/config.ts';
import { oneLine } from '../../../src/embedded/launcher-error.ts';
import { type Cost, costOfSending } from '../cost.ts';
import { type KeptConnection, keptConnection } from '../http-client.ts';
import { type Percentiles, percentiles } from '../percentiles.ts';
import { makeReader, makeThreads, tokenOf } from '../population.ts';
import type { Stage } from '../stage.ts';
import { waitFor } from '../wait-for.ts';
import { openHistory } from './load.ts';
import { type Caller, getPage, listKinds, longThreads, type RequestKind } from './requests.ts';
import type { ThreadPlace } from './rows.ts';
import { searchKinds } from './search-kinds.ts';

export interface HistoryMeasureOptions {
  /** Sizes of the history, growing. */
  messages: readonly number[];
  threads: number;
  other_threads: number;
  /** Of each kind, at each size, with one in flight and again with `in_flight`. */
  requests: number;
  in_flight: number;
  say: (line: string) => void;
  signal: AbortSignal;
  fail: (reason: Error) => void;
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
  sizes: { messages: number; load_s: number; timings: Timing[]; send: Cost }[];
}

const warmUp = 40;
/** Sends beside the history: other agents in other threads. */
const sending = { threads: 64, in_flight: 32, seconds: 10 };
/** Who talks to the reader and with each other. */
const others = 40;
const closing_ms = 30_000;

/** Answer times of reads while the history grows in one database; see docs/performance.md. */
export async function measureHistory(stage: Stage, options: HistoryMeasureOptions): Promise<HistoryMeasured> {
  const { messages, threads, other_threads, requests, in_flight, say, signal, fail } = options;
  const core = compose(loadConfig({ ...stage.env, LOG_LEVEL: 'silent' }), 'bench');
  const { reader, agent_ids } = await makeReader(core, 'history', others);
  const history = await openHistory({
    url: core.config.DATABASE_URL,
    reader_id: reader.id,
    agent_ids,
    threads,
    other_threads,
    signal,
  });
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
    const senders = await makeThreads(core, `history-${size}`, sending.threads);
    const sent = { bases: [stage.base], ...sending, threads: senders, signal, fail };
    return { messages: size, load_s, timings, send: await costOfSending(stage, core, sent) };
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
    return { threads, other_threads, requests, in_flight, sizes };
  } finally {
    for (const each of connections) each.close();
    const closed = Promise.all([history.close(), core.close()]);
    await waitFor('its own connections to close', closing_ms, closed).catch((error: unknown) =>
      say(oneLine(error)),
    );
  }
}
