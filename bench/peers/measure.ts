import { compose } from '../../src/compose.ts';
import { loadConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/platform/database/database.ts';
import { waitUntil } from '../../src/shared/wait-until.ts';
import type { Environment } from '../environment.ts';
import { createCounter } from '../messages/sends.ts';
import { percentiles } from '../percentiles.ts';
import { findInstallation, installCommand } from './ejabberd/installation.ts';
import { startEjabberd } from './ejabberd/server.ts';
import { type IdleResult, measureIdle } from './idle.ts';
import { type LoadOptions, type LoadResult, sendInPairs, sendSteadilyInPairs, sendToGroup } from './loads.ts';
import type { Peer, PeerParts } from './peer.ts';
import { startRelay } from './relay.ts';
import { createPopulation, createServicePeer } from './service.ts';
import { addFaults, type Faults } from './tally.ts';

export interface PeersOptions extends PeerParts {
  /** Of each measurement, in rounds of half of it. */
  seconds: number;
  /** Members of the group. */
  members: number;
  /** Idle sockets. */
  sockets: number;
}

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
  idle: IdleResult | null;
  faults: Faults;
  /** Messages that were received but are not stored; null for a server that stores nothing. */
  not_stored: number | null;
}

export interface PeersMeasurement {
  peers: PeerFigures[];
  members: number;
  sockets: number;
  /** Servers that were not measured, and how to install them. */
  notes: string[];
}

const rounds = 2;
const warmUpSeconds = 2;
const manyPairs = 256;
const fewPairs = 32;
const steadyPerSecond = 200;
const groupPerSecond = 20;
const storeTimeoutMs = 30_000;
const numbersPerPeer = 100_000_000;

/** Measures this service, ejabberd and a bare relay in turn, measure by measure; see docs/performance.md. */
export async function measurePeers(
  environment: Environment,
  options: PeersOptions,
): Promise<PeersMeasurement> {
  const { members, sockets, log } = options;
  const core = compose(loadConfig({ ...environment.env, LOG_LEVEL: 'silent' }), 'bench');
  const database = openDatabase({ url: core.config.DATABASE_URL, poolSize: 1, onError: () => undefined });
  const cleanups: (() => Promise<unknown>)[] = [() => core.close(), () => database.close()];
  const notes: string[] = [];
  try {
    const population = await createPopulation(core, { pairs: manyPairs, members, idle: sockets });
    const byCall = createServicePeer(environment, database, population, {
      ...options,
      transport: 'WebSocket calls',
    });
    const byPost = createServicePeer(environment, database, population, { ...options, transport: 'POST' });
    const installation = findInstallation();
    const others: Peer[] = [];
    if (installation) {
      const agents = Math.max(2 * manyPairs, members, sockets);
      const ejabberd = await startEjabberd({ ...options, installation, agents });
      cleanups.push(ejabberd.stop);
      others.push(ejabberd.peer);
    } else {
      notes.push(`ejabberd is not installed and was not measured. On Debian: ${installCommand}`);
      log(notes.join('\n'));
    }
    const relay = await startRelay(options);
    cleanups.push(relay.stop);
    others.push(relay.peer);
    const peers = await measureInTurn([byCall, byPost, ...others], [byCall, ...others], options);
    return { peers, members, sockets, notes };
  } finally {
    for (const cleanup of cleanups.toReversed()) await cleanup();
  }
}

/**
 * Measures each figure for all servers before the next figure, in two rounds, so that other load on the machine affects all of them.
 * @param withIdle the servers whose idle sockets are measured
 */
export async function measureInTurn(
  peers: readonly Peer[],
  withIdle: readonly Peer[],
  { seconds, members, sockets, log, signal }: PeersOptions,
): Promise<PeerFigures[]> {
  const runs = peers.map((peer, at) =>
    createRun(peer, at * numbersPerPeer, { seconds: seconds / rounds, log, signal }),
  );
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
  { seconds, log, signal }: Pick<PeersOptions, 'seconds' | 'log' | 'signal'>,
) {
  const countUp = createCounter();
  const options: LoadOptions = {
    seconds,
    warmUp_s: warmUpSeconds,
    nextNumber: () => first + countUp(),
    signal,
  };
  const rates = { few: [] as number[], many: [] as number[], frames: [] as number[], cpu: [] as number[] };
  const delays = { steady: [] as number[], group: [] as number[] };
  let faults: Faults = { lost: 0, duplicated: 0, reordered: 0 };
  let sent = 0;
  const add = (measure: string, result: LoadResult) => {
    faults = addFaults(faults, result.faults);
    sent += result.sent;
    const { lost, duplicated, reordered } = result.faults;
    if (lost + duplicated + reordered === 0) return;
    log(`${peer.name}, ${measure}: ${lost} lost, ${duplicated} duplicated, ${reordered} reordered`);
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
      not_stored: await countMissing(peer, { first, sent, signal }),
    }),
  };
}

/** Messages that are not stored, after a while for those that are still being stored. */
async function countMissing(
  peer: Peer,
  { first, sent, signal }: { first: number; sent: number; signal: AbortSignal },
): Promise<number | null> {
  let stored: number | null = null;
  const isStored = async () => {
    stored = await peer.countStored(first, first + sent - 1);
    return stored === null || stored >= sent;
  };
  await waitUntil(isStored, { timeoutMs: storeTimeoutMs, intervalMs: 500, signal });
  return stored === null ? null : sent - stored;
}

function mean(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0) / values.length;
}
