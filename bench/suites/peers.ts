import { waitUntil } from '../../src/shared/wait-until.ts';
import { percentiles } from '../load/percentiles.ts';
import { addFaults, createCounter, type Faults } from '../load/tally.ts';
import { type IdleResult, measureIdle } from '../peers/idle.ts';
import { type PeerLoad, sendInPairs, sendSteadilyInPairs, sendToGroup } from '../peers/loads.ts';
import { type Losses, lossPairs, measureLosses, victims } from '../peers/losses.ts';
import type { Peer, PeerKind } from '../peers/peer.ts';
import { attempt, type Failure, isolate, type OwnBench } from '../peers/isolate.ts';
import { kinds } from '../peers/kinds.ts';
import type { Bench } from '../start/service.ts';

interface Times {
  p50: number;
  p99: number;
}

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

const rounds = 2;
const warmUp_s = 2;
const manyPairs = 256;
const fewPairs = 32;
const steadyPerSecond = 200;
const groupPerSecond = 20;
const storeTimeoutMs = 30_000;
const numbersPerPeer = 100_000_000;

/** This service and its peers in turn, measure by measure; see docs/performance.md. A server that fails ends its own measures only. */
export async function measurePeers(bench: Bench) {
  const { members, sockets } = bench.options.streams;
  const seconds = bench.options.sending.seconds / rounds;
  const notes: string[] = [];
  const runs: Run[] = [];
  const failures: Failure[] = [];
  for (const kind of kinds) {
    const missing = kind.findMissing();
    if (missing !== null) {
      notes.push(`${kind.name} is not installed and was not measured. On Debian: ${missing}`);
      continue;
    }
    const own = isolate(bench);
    const size = { pairs: manyPairs + lossPairs, members, idle: sockets };
    await attempt(own, failures, { peer: kind.name, measure: 'start' }, async () => {
      for (const [at, peer] of (await kind.start(own, size)).entries())
        runs.push(
          createRun(kind, peer, runs.length * numbersPerPeer, {
            seconds,
            bench: own,
            failures,
            isFirst: at === 0,
          }),
        );
    });
  }
  // First, because the memory of a process that was under load shrinks for a while.
  for (const run of runs) await run.measureIdle(sockets);
  for (let round = 1; round <= rounds; round += 1) {
    for (const run of runs) await run.measurePairs(fewPairs);
    for (const run of runs) await run.measurePairs(manyPairs);
    for (const run of runs) await run.measureSteady();
    for (const run of runs) await run.measureGroup(members);
    bench.log(`round ${round} of ${rounds} is complete`);
  }
  const figures: (() => PeerFigures)[] = [];
  for (const run of runs) figures.push(await run.readFigures());
  // Last, because it ends the measured processes.
  for (const run of runs) await run.measureLosses();
  const guarantees = kinds.map(({ name, guarantees: own }) => ({ server: name, ...own }));
  return {
    members,
    sockets,
    measures: listMeasures(figures.map((read) => read())),
    guarantees,
    failures,
    notes,
  };
}

type Run = ReturnType<typeof createRun>;

/** Collects the figures of one server over all rounds. Its messages have numbers from `first` on. */
function createRun(
  kind: PeerKind,
  peer: Peer,
  first: number,
  /** `isFirst`: whether it is the first way to use its server, which has the idle sockets and the losses of all. */
  own: { seconds: number; bench: OwnBench; failures: Failure[]; isFirst: boolean },
) {
  const { log, signal } = own.bench;
  const countUp = createCounter();
  const options = { seconds: own.seconds, warmUp_s, nextNumber: () => first + countUp(), signal };
  const rates = { few: [] as number[], many: [] as number[], frames: [] as number[], cpu: [] as number[] };
  const delays = { steady: [] as number[], group: [] as number[] };
  let faults: Faults = { lost: 0, duplicated: 0, reordered: 0 };
  let sent = 0;
  let idle: IdleResult | undefined;
  let losses: Losses | null | undefined;
  const measureOnce = <T>(measure: string, run: () => Promise<T>) =>
    attempt(own.bench, own.failures, { peer: peer.name, measure }, run);
  const measure = async <T extends PeerLoad>(
    name: string,
    run: () => Promise<T>,
    add: (result: T) => void,
  ) => {
    const result = await measureOnce(name, run);
    if (!result) return;
    add(result);
    faults = addFaults(faults, result.faults);
    sent += result.sent;
    const found = Object.entries(result.faults).filter(([, count]) => count > 0);
    for (const [fault, count] of found) log(`${peer.name}, ${name}: ${count} ${fault}`);
  };

  return {
    async measureIdle(sockets: number): Promise<void> {
      if (own.isFirst) idle = await measureOnce('idle sockets', () => measureIdle(peer, sockets, signal));
    },
    async measureLosses(): Promise<void> {
      const place = { firstPair: manyPairs, first: first + numbersPerPeer / 2 };
      if (!own.isFirst) return;
      losses = await measureOnce('losses', () => measureLosses(own.bench, kind.name, peer, place));
    },
    measurePairs: (pairs: number) =>
      measure(
        `${pairs} in flight`,
        () => sendInPairs(peer, pairs, options),
        ({ per_s, cpu_ms }) => {
          (pairs === fewPairs ? rates.few : rates.many).push(per_s);
          if (pairs === fewPairs && cpu_ms !== null) rates.cpu.push(cpu_ms);
        },
      ),
    measureSteady: () =>
      measure(
        'steady rate',
        () => sendSteadilyInPairs(peer, steadyPerSecond, options),
        (result) => delays.steady.push(...result.delays),
      ),
    measureGroup: (members: number) =>
      measure(
        'thread',
        () => sendToGroup(peer, members, groupPerSecond, options),
        (result) => {
          for (const delay of result.delays) delays.group.push(delay);
          rates.frames.push(result.frames_per_s);
        },
      ),
    /** Counts the stored messages. The figures are read when all measures are over. */
    async readFigures(): Promise<() => PeerFigures> {
      const not_stored =
        (await measureOnce('stored messages', () => countMissing(peer, first, sent, signal))) ?? null;
      const figures = {
        name: peer.name,
        ...summarize(rates, delays),
        idle: idle ?? null,
        faults,
        not_stored,
      };
      return () => ({ ...figures, losses: losses ?? null });
    },
  };
}

function summarize(
  rates: Record<'few' | 'many' | 'frames' | 'cpu', number[]>,
  delays: Record<'steady' | 'group', number[]>,
) {
  return {
    in_flight_32_per_s: mean(rates.few),
    in_flight_256_per_s: mean(rates.many),
    cpu_ms: mean(rates.cpu),
    steady_ms: percentiles(delays.steady),
    group_ms: percentiles(delays.group),
    group_frames_per_s: mean(rates.frames),
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
export function mean(values: readonly number[]): number {
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
