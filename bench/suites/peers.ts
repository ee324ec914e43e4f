import { waitUntil } from '../../src/shared/wait-until.ts';
import { type Percentiles, percentiles } from '../load/percentiles.ts';
import { addFaults, createCounter, type Faults } from '../load/tally.ts';
import { type IdleResult, measureIdle } from '../peers/idle.ts';
import { type PeerLoad, sendInPairs, sendSteadilyInPairs, sendToGroup } from '../peers/loads.ts';
import { type Losses, lossPairs, measureLosses, victims } from '../peers/losses.ts';
import type { Peer, PeerKind } from '../peers/peer.ts';
import { attempt, type Failure, isolate, type OwnBench } from '../peers/isolate.ts';
import { kinds } from '../peers/kinds.ts';
import type { Bench } from '../start/service.ts';

type Times = Pick<Percentiles, 'p50' | 'p99'>;

/** The figures of one server; null or NaN for what was not measured. */
export interface PeerFigures {
  name: string;
  /** Messages/s with 32 and 256 in flight: taken by the server, stored, and received by the partner. */
  in_flight_32_per_s: number;
  in_flight_256_per_s: number;
  /** CPU milliseconds of the server and its database for each message, with 32 in flight. */
  cpu_ms: number;
  /** From the send to the partner's frame at 200 messages/s. */
  steady_ms: Times;
  /** From the send to each member's frame at 20 messages/s. */
  group_ms: Times;
  group_frames_per_s: number;
  idle: IdleResult | null;
  faults: Faults;
  /** After a kill -9 of the server, its clients and both. */
  losses: Losses | null;
  /** Messages that were received but are not stored; null for a server that stores nothing. */
  not_stored: number | null;
}

/** What `--measures` selects, in the order in which it runs. */
const measureNames = ['idle', 'pairs', 'steady', 'thread', 'losses'] as const;

const noFaults: Faults = { lost: 0, duplicated: 0, reordered: 0 };
const rounds = 2;
const warmUp_s = 2;
const manyPairs = 256;
const fewPairs = 32;
const steadyPerSecond = 200;
const groupPerSecond = 20;
const storeTimeoutMs = 30_000;
const numbersPerPeer = 100_000_000;

/** This service and its peers in turn, measure by measure; see docs/performance.md. */
export async function measurePeers(bench: Bench) {
  const { members, sockets, ...selection } = bench.options.streams;
  const { figures, ...found } = await comparePeers(bench, selection);
  return { members, sockets, measures: listMeasures(figures), ...found };
}

/**
 * Measures servers in turn. A server that fails ends its own measures only.
 * @param selection words of the names of servers, and measures; none: all
 * @returns the figures of each way to use a server
 */
export async function comparePeers(
  bench: Bench,
  selection: { servers: readonly string[]; measures: readonly string[] },
) {
  const { members, sockets } = bench.options.streams;
  const seconds = bench.options.sending.seconds / rounds;
  const names = select('--measures', measureNames, selection.measures, (name) => name);
  const has = (...some: (typeof measureNames)[number][]) => some.some((name) => names.includes(name));
  const size = {
    pairs: has('pairs', 'steady', 'losses') ? manyPairs + lossPairs : 0,
    members: has('thread') ? members : 0,
    idle: has('idle') ? sockets : 0,
  };
  const notes: string[] = [];
  const runs: Run[] = [];
  const failures: Failure[] = [];
  for (const kind of select('--servers', kinds, selection.servers, ({ name }) => name)) {
    const missing = kind.findMissing();
    if (missing !== null) {
      notes.push(`${kind.name} is not installed and was not measured. On Debian: ${missing}`);
      continue;
    }
    const own = isolate(bench);
    await attempt(own, failures, { peer: kind.name, measure: 'start' }, async () => {
      for (const [at, peer] of (await kind.start(own, size)).entries()) {
        const first = runs.length * numbersPerPeer;
        runs.push(createRun(kind, peer, first, { seconds, bench: own, failures, isFirst: at === 0 }));
      }
    });
  }
  const measureAll = async (name: (typeof measureNames)[number], measure: (run: Run) => Promise<void>) => {
    if (has(name)) for (const run of runs) await measure(run);
  };
  // First, because the memory of a process that was under load shrinks for a while.
  await measureAll('idle', (run) => run.measureIdle(sockets));
  for (let round = 1; round <= rounds; round += 1) {
    await measureAll('pairs', (run) => run.measurePairs(fewPairs));
    await measureAll('pairs', (run) => run.measurePairs(manyPairs));
    await measureAll('steady', (run) => run.measureSteady());
    await measureAll('thread', (run) => run.measureGroup(members));
    bench.log(`round ${round} of ${rounds} is complete`);
  }
  const figures: (() => PeerFigures)[] = [];
  for (const run of runs) figures.push(await run.readFigures());
  // Last, because it ends the measured processes.
  await measureAll('losses', (run) => run.measureLosses());
  return { figures: figures.map((read) => read()), failures, notes };
}

/** The items with one of these words in their names; without words, all. @throws for a word of no item */
function select<T>(
  option: string,
  items: readonly T[],
  words: readonly string[],
  nameOf: (item: T) => string,
): readonly T[] {
  const hasWord = (item: T, word: string) => nameOf(item).toLowerCase().includes(word.toLowerCase());
  const unknown = words.find((word) => !items.some((item) => hasWord(item, word)));
  if (unknown !== undefined)
    throw new Error(`${option}: ${unknown} is none of ${items.map(nameOf).join(', ')}`);
  return words.length === 0 ? items : items.filter((item) => words.some((word) => hasWord(item, word)));
}

type Run = ReturnType<typeof createRun>;
type Results<Load extends (...args: never[]) => Promise<PeerLoad>> = Awaited<ReturnType<Load>>[];

/** Collects the figures of one server over all rounds. Its messages have numbers from `first` on. */
function createRun(
  kind: PeerKind,
  peer: Peer,
  first: number,
  /** `isFirst`: whether it is the first way to use its server, which has the idle sockets and the losses of all. */
  {
    seconds,
    bench,
    failures,
    isFirst,
  }: {
    seconds: number;
    bench: OwnBench;
    failures: Failure[];
    isFirst: boolean;
  },
) {
  const { log, signal } = bench;
  const countUp = createCounter();
  const options = { seconds, warmUp_s, nextNumber: () => first + countUp(), signal };
  const pairs = { few: [] as Results<typeof sendInPairs>, many: [] as Results<typeof sendInPairs> };
  const steady: Results<typeof sendSteadilyInPairs> = [];
  const thread: Results<typeof sendToGroup> = [];
  let idle: IdleResult | undefined;
  let losses: Losses | null | undefined;
  const measureOnce = <T>(measure: string, run: () => Promise<T>) =>
    attempt(bench, failures, { peer: peer.name, measure }, run);
  const add = async <T extends PeerLoad>(results: T[], measure: string, run: () => Promise<T>) => {
    const result = await measureOnce(measure, run);
    if (!result) return;
    results.push(result);
    const found = Object.entries(result.faults).filter(([, count]) => count > 0);
    for (const [fault, count] of found) log(`${peer.name}, ${measure}: ${count} ${fault}`);
  };

  return {
    async measureIdle(sockets: number): Promise<void> {
      if (isFirst) idle = await measureOnce('idle sockets', () => measureIdle(peer, sockets, signal));
    },
    async measureLosses(): Promise<void> {
      const place = { firstPair: manyPairs, first: first + numbersPerPeer / 2 };
      if (isFirst) losses = await measureOnce('losses', () => measureLosses(bench, kind.name, peer, place));
    },
    measurePairs: (count: number) =>
      add(pairs[count === fewPairs ? 'few' : 'many'], `${count} in flight`, () =>
        sendInPairs(peer, count, options),
      ),
    measureSteady: () =>
      add(steady, 'steady rate', () => sendSteadilyInPairs(peer, steadyPerSecond, options)),
    measureGroup: (members: number) =>
      add(thread, 'thread', () => sendToGroup(peer, members, groupPerSecond, options)),
    /** Counts the stored messages. The figures are read when all measures are over. */
    async readFigures(): Promise<() => PeerFigures> {
      const loads: PeerLoad[] = [...pairs.few, ...pairs.many, ...steady, ...thread];
      const sent = loads.reduce((total, load) => total + load.sent, 0);
      const count = () => countMissing(peer, first, sent, signal);
      const not_stored = (await measureOnce('stored messages', count)) ?? null;
      return () => ({
        name: peer.name,
        in_flight_32_per_s: mean(pairs.few.map(({ per_s }) => per_s)),
        in_flight_256_per_s: mean(pairs.many.map(({ per_s }) => per_s)),
        cpu_ms: mean(pairs.few.flatMap(({ cpu_ms }) => cpu_ms ?? [])),
        steady_ms: percentiles(steady.flatMap(({ delays }) => delays)),
        group_ms: percentiles(thread.flatMap(({ delays }) => delays)),
        group_frames_per_s: mean(thread.map(({ frames_per_s }) => frames_per_s)),
        idle: idle ?? null,
        faults: loads.map((load) => load.faults).reduce(addFaults, noFaults),
        losses: losses ?? null,
        not_stored,
      });
    },
  };
}

/** Messages that are not stored, after a while for those that are still being stored; null for a server that stores nothing. */
async function countMissing(
  peer: Peer,
  first: number,
  sent: number,
  signal: AbortSignal,
): Promise<number | null> {
  let stored: number | null = null;
  const isStored = async () => {
    stored = await peer.countStored(first, first + sent - 1);
    return stored === null || stored >= sent;
  };
  await waitUntil(isStored, { timeoutMs: storeTimeoutMs, intervalMs: 500, signal });
  return stored === null ? null : sent - stored;
}

/** NaN when there are no values. */
function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

/** A row for each measure: the figures of every server, and the ratio of both transports of the service to ejabberd, or to the last server. */
export function listMeasures(peers: readonly PeerFigures[]): Record<string, string>[] {
  const other = peers.find(({ name }) => name === 'ejabberd') ?? peers.at(-1);
  type Read = (figures: PeerFigures) => readonly (number | null)[];
  const row = (measure: string, read: Read, places = 0, hasRatio = true): Record<string, string> => {
    const print = (values: readonly (number | null)[], decimals = places) =>
      values.map((value) => (Number.isFinite(value) ? value?.toFixed(decimals) : '–')).join(' / ');
    const divide = (peer: PeerFigures) =>
      read(peer).map((value, at) => {
        const divisor = other && read(other)[at];
        return value === null || divisor == null ? null : value / divisor;
      });
    return {
      measure,
      ...Object.fromEntries(peers.map((peer) => [peer.name, print(read(peer))])),
      ...Object.fromEntries(
        peers
          .slice(0, 2)
          .map((peer) => [`${peer.name} ÷ ${other?.name}`, hasRatio ? print(divide(peer), 2) : '']),
      ),
    };
  };
  return [
    row('messages/s stored and delivered, 32 in flight', (peer) => [peer.in_flight_32_per_s]),
    row('the same, 256 in flight', (peer) => [peer.in_flight_256_per_s]),
    row('CPU ms of a message, server and database', (peer) => [peer.cpu_ms], 2),
    row('send to socket at 200/s, p50 / p99 ms', ({ steady_ms }) => [steady_ms.p50, steady_ms.p99], 1),
    row('thread at 20/s, p50 / p99 ms to each', ({ group_ms }) => [group_ms.p50, group_ms.p99], 1),
    row('the same thread at full speed, frames/s', (peer) => [peer.group_frames_per_s]),
    row('memory without sockets, MB', ({ idle }) => [idle && idle.at_rest_kb / 1_000], 1),
    row('idle socket, marginal KB', ({ idle }) => [idle?.marginal_kb ?? null], 1),
    row('idle socket, average KB', ({ idle }) => [idle?.average_kb ?? null], 1),
    row('CPU ms/s without sockets / with all of them', ({ idle }) => [
      idle?.rest_cpu_ms_per_s ?? null,
      idle?.idle_cpu_ms_per_s ?? null,
    ]),
    row('connects/s, credentials checked', ({ idle }) => [idle?.connects_per_s ?? null]),
    row('lost / duplicated / reordered', ({ faults: f }) => [f.lost, f.duplicated, f.reordered], 0, false),
    ...victims.map((victim) =>
      row(
        `kill -9 of ${victim}: lost / duplicated / reordered`,
        ({ losses }) => {
          const of = losses?.[victim];
          return of ? [of.lost, of.duplicated, of.reordered] : [null];
        },
        0,
        false,
      ),
    ),
    row('not stored', (peer) => [peer.not_stored], 0, false),
  ];
}
