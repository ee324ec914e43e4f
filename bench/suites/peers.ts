import { waitUntil } from '../../src/shared/wait-until.ts';
import { percentiles } from '../load/percentiles.ts';
import { addFaults, createCounter, type Faults } from '../load/tally.ts';
import { findInstallation, installCommand } from '../peers/ejabberd/installation.ts';
import { startEjabberd } from '../peers/ejabberd/server.ts';
import { type IdleResult, measureIdle } from '../peers/idle.ts';
import { type PeerLoad, sendInPairs, sendSteadilyInPairs, sendToGroup } from '../peers/loads.ts';
import type { Peer } from '../peers/peer.ts';
import { startRelay } from '../peers/relay.ts';
import { createPopulation, createServicePeer } from '../peers/service.ts';
import { garbageCollectionArguments } from '../start/resident-memory.ts';
import { type Bench, startService } from '../start/service.ts';

interface Times {
  p50: number;
  p99: number;
}

/** The figures of one server; null for what was not measured. */
export interface PeerFigures {
  name: string;
  /** Messages/s with 32 and 256 in flight: taken by the server, stored, and received by the partner. */
  in_flight_32_per_s: number;
  in_flight_256_per_s: number;
  /** CPU milliseconds of the server and its database for each message, with 32 in flight. */
  cpu_ms: number | null;
  /** From the send to the partner's frame at 200 messages/s. */
  steady_ms: Times;
  /** From the send to each member's frame at 20 messages/s. */
  group_ms: Times;
  group_frames_per_s: number;
  idle: Omit<IdleResult, 'at_rest_kb'> | null;
  faults: Faults;
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

/** This service, ejabberd and a bare relay in turn, measure by measure; see docs/performance.md. */
export async function measurePeers(bench: Bench) {
  const { members, sockets } = bench.options.streams;
  const service = await startService(bench, { apiArguments: garbageCollectionArguments });
  const population = await createPopulation(service, { pairs: manyPairs, members, idle: sockets });
  const byCall = createServicePeer(bench, service, population, 'WebSocket calls');
  const byPost = createServicePeer(bench, service, population, 'POST');
  const installation = findInstallation();
  const agents = Math.max(2 * manyPairs, members, sockets);
  const others = installation ? [await startEjabberd(bench, installation, agents)] : [];
  others.push(await startRelay(bench));
  const figures = await measurePeersInTurn(bench, [byCall, byPost, ...others], [byCall, ...others]);
  const notes = installation
    ? []
    : [`ejabberd is not installed and was not measured. On Debian: ${installCommand}`];
  return { members, sockets, measures: listMeasures(figures), notes };
}

/**
 * Measures each figure for all servers before the next figure, in two rounds, so that other load on the machine affects all of them.
 * @param withIdle the servers whose idle sockets are measured
 */
async function measurePeersInTurn(
  { options, log, signal }: Bench,
  peers: readonly Peer[],
  withIdle: readonly Peer[],
): Promise<PeerFigures[]> {
  const { members, sockets } = options.streams;
  const seconds = options.sending.seconds / rounds;
  const runs = peers.map((peer, at) => createRun(peer, at * numbersPerPeer, { seconds, log, signal }));
  // First, because the memory of a process that was under load shrinks for a while.
  const idle = new Map<Peer, IdleResult>();
  for (const peer of withIdle) idle.set(peer, await measureIdle(peer, sockets, signal));
  for (let round = 1; round <= rounds; round += 1) {
    for (const run of runs) await run.measurePairs(fewPairs);
    for (const run of runs) await run.measurePairs(manyPairs);
    for (const run of runs) await run.measureSteady();
    for (const run of runs) await run.measureGroup(members);
    log(`round ${round} of ${rounds} is complete`);
  }
  const figures: PeerFigures[] = [];
  for (const run of runs) figures.push(await run.readFigures(idle.get(run.peer) ?? null));
  return figures;
}

/** Collects the figures of one server over all rounds. Its messages have numbers from `first` on. */
function createRun(
  peer: Peer,
  first: number,
  { seconds, log, signal }: Pick<Bench, 'log' | 'signal'> & { seconds: number },
) {
  const countUp = createCounter();
  const options = { seconds, warmUp_s, nextNumber: () => first + countUp(), signal };
  const rates = { few: [] as number[], many: [] as number[], frames: [] as number[], cpu: [] as number[] };
  const delays = { steady: [] as number[], group: [] as number[] };
  let faults: Faults = { lost: 0, duplicated: 0, reordered: 0 };
  let sent = 0;
  const add = (measure: string, result: PeerLoad) => {
    faults = addFaults(faults, result.faults);
    sent += result.sent;
    const found = Object.entries(result.faults).filter(([, count]) => count > 0);
    for (const [fault, count] of found) log(`${peer.name}, ${measure}: ${count} ${fault}`);
  };
  /** Messages that are not stored, after a while for those that are still being stored. */
  const countMissing = async () => {
    let stored: number | null = null;
    const isStored = async () => {
      stored = await peer.countStored(first, first + sent - 1);
      return stored === null || stored >= sent;
    };
    await waitUntil(isStored, { timeoutMs: storeTimeoutMs, intervalMs: 500, signal });
    return stored === null ? null : sent - stored;
  };

  return {
    peer,
    async measurePairs(pairs: number): Promise<void> {
      const result = await sendInPairs(peer, pairs, options);
      add(`${pairs} in flight`, result);
      (pairs === fewPairs ? rates.few : rates.many).push(result.per_s);
      if (pairs === fewPairs && result.cpu_ms !== null) rates.cpu.push(result.cpu_ms);
    },
    async measureSteady(): Promise<void> {
      const result = await sendSteadilyInPairs(peer, steadyPerSecond, options);
      add('steady rate', result);
      for (const delay of result.delays) delays.steady.push(delay);
    },
    async measureGroup(members: number): Promise<void> {
      const result = await sendToGroup(peer, members, groupPerSecond, options);
      add('thread', result);
      for (const delay of result.delays) delays.group.push(delay);
      rates.frames.push(result.frames_per_s);
    },
    readFigures: async (idle: IdleResult | null): Promise<PeerFigures> => ({
      name: peer.name,
      in_flight_32_per_s: mean(rates.few),
      in_flight_256_per_s: mean(rates.many),
      cpu_ms: rates.cpu.length === 0 ? null : mean(rates.cpu),
      steady_ms: percentiles(delays.steady),
      group_ms: percentiles(delays.group),
      group_frames_per_s: mean(rates.frames),
      idle,
      faults,
      not_stored: await countMissing(),
    }),
  };
}

export function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}

/** A row for each measure: the figures of every server, and the ratio of both transports of the service to ejabberd, or to the last server. */
export function listMeasures(peers: readonly PeerFigures[]): Record<string, string>[] {
  const other = peers.find(({ name }) => name === 'ejabberd') ?? peers.at(-1);
  type Read = (figures: PeerFigures) => readonly (number | null)[];
  const row = (measure: string, read: Read, places = 0, hasRatio = true): Record<string, string> => {
    const print = (values: readonly (number | null)[], decimals = places) =>
      values.map((value) => (value === null ? '–' : value.toFixed(decimals))).join(' / ');
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
    row('idle socket, marginal KB', ({ idle }) => [idle?.marginal_kb ?? null], 1),
    row('idle socket, average KB', ({ idle }) => [idle?.average_kb ?? null], 1),
    row('connects/s, credentials checked', ({ idle }) => [idle?.connects_per_s ?? null]),
    row('lost / duplicated / reordered', ({ faults: f }) => [f.lost, f.duplicated, f.reordered], 0, false),
    row('not stored', (peer) => [peer.not_stored], 0, false),
  ];
}
