import { setTimeout as pause } from 'node:timers/promises';
import { createCursors } from '../src/domain/feed/cursors.ts';
import { checkHistory } from './check/check.ts';
import type { Violation } from './check/violation.ts';
import { type Collector, createCollector } from './collect.ts';
import type { FaultRecord, History } from './history.ts';
import { startLoad } from './load/load.ts';
import { type Agent, createPopulation } from './load/population.ts';
import { listPendingJobs, waitForEmptyOutbox } from './outbox.ts';
import { seededRandom } from './random.ts';
import { transportNames, type Reader, startReader } from './reader.ts';
import type { Environment } from './environment.ts';
import { timeoutSignal } from './timeout-signal.ts';

export interface ChaosOptions {
  /** Injects faults during the load and returns them. The load ends when it resolves. */
  injectFaults: () => Promise<FaultRecord[]>;
  seed: number;
  size: { agents: number; threads: number };
  signal: AbortSignal;
  log: (line: string) => void;
  /** Problems that the environment reported so far. */
  complaints: readonly string[];
}

/** The properties of a service that the load needs: its address, its settings and the address of its database. */
export type LoadedEnvironment = Pick<Environment, 'base' | 'env'> & {
  postgres: Pick<Environment['postgres'], 'url'>;
};

export interface ChaosResult {
  history: History;
  faults: FaultRecord[];
  violations: Violation[];
  uncertainOutcomes: Record<string, number>;
  /** From the end of load and faults until everything was acknowledged, seen and processed, in milliseconds. */
  settleMs: number;
}

/** How long the service may take to recover after the last fault, in milliseconds. */
const settleTimeoutMs = 40_000;

/** Time of load before the first fault, in milliseconds. */
const headStartMs = 1_000;

/** Runs load and faults, waits until the service has recovered, and checks its guarantees. */
export async function runChaos(environment: LoadedEnvironment, options: ChaosOptions): Promise<ChaosResult> {
  const { seed, size, signal, log } = options;
  const { base, env } = environment;
  const cursors = createCursors(env['SECRET_KEY'] ?? '');
  const population = await createPopulation(env, size, seededRandom(seed));
  const begin = createCollector(base, cursors, signal);
  const positions = await Promise.all(population.agents.map((agent) => begin.position(agent)));
  const starts = new Map(population.agents.map(({ id }, index) => [id, positions[index] ?? '']));
  const readers = population.agents.flatMap((agent, index) => {
    const parts = { base, cursors, agent, cursor: starts.get(agent.id) ?? '' };
    // Every fourth agent has one more reader, which uses all transports in rotation.
    const rotating = index % 4 === 0 ? [startReader({ ...parts, at: transportNames })] : [];
    return [...transportNames.map((name) => startReader({ ...parts, at: [name] })), ...rotating];
  });
  const load = startLoad(base, population, seed);
  try {
    await pause(headStartMs);
    const faults = await options.injectFaults();
    signal.throwIfAborted();
    const faultsEndedAt = Date.now();
    const giveUp = timeoutSignal(settleTimeoutMs, signal);
    log('the last fault is over; waiting for recovery');
    await load.finish(giveUp);
    const end = createCollector(base, cursors, signal);
    await waitForRecovery({ environment, collect: end, agents: population.agents, readers, giveUp });
    const settleMs = Date.now() - faultsEndedAt;
    signal.throwIfAborted();
    log('reading the final state');
    const after = await readAll(
      environment,
      end,
      population.agents,
      starts,
      timeoutSignal(settleTimeoutMs, signal),
    );
    // Receipts can arrive during the read: the readers get time to receive them too.
    const last = new Map(after.feeds.map(({ agent_id, events }) => [agent_id, events.at(-1)?.number ?? 0]));
    await waitUntilCaughtUp(readers, last, timeoutSignal(settleTimeoutMs, signal));
    await Promise.all(readers.map((reader) => reader.stop()));
    const complaints = [...options.complaints, ...load.complaints];
    const { sends, contactRequests, marks, uncertainOutcomes } = load;
    const { threads } = population;
    const agents = population.agents.map(({ id }) => id);
    const histories = readers.map(({ history }) => history);
    const history: History = {
      threads,
      agents,
      sends,
      contact_requests: contactRequests,
      marks,
      readers: histories,
      complaints,
      ...after,
    };
    return {
      history,
      faults,
      violations: checkHistory(history),
      uncertainOutcomes: Object.fromEntries(uncertainOutcomes),
      settleMs,
    };
  } finally {
    const abandoned = AbortSignal.abort();
    await Promise.all([load.finish(abandoned), ...readers.map((reader) => reader.stop())]);
  }
}

interface Settling {
  environment: LoadedEnvironment;
  collect: Collector;
  agents: readonly Agent[];
  readers: readonly Reader[];
  giveUp: AbortSignal;
}

/** Waits until every reader has reached the end of its feed and the outbox is empty. The checker reports what is missing. */
async function waitForRecovery({ environment, collect, agents, readers, giveUp }: Settling): Promise<void> {
  while (!giveUp.aborted) {
    const ends = new Map<string, number>();
    for (const agent of agents) ends.set(agent.id, await collect.end(agent));
    if (haveCaughtUp(readers, ends) && (await listPendingJobs(environment.postgres.url)) === 0) return;
    await pause(200);
  }
}

/** Whether every reader has reached these positions in the feeds. */
function haveCaughtUp(readers: readonly Reader[], ends: ReadonlyMap<string, number>): boolean {
  return readers.every(({ history, position }) => position() >= (ends.get(history.agent_id) ?? 0));
}

async function waitUntilCaughtUp(
  readers: readonly Reader[],
  ends: ReadonlyMap<string, number>,
  giveUp: AbortSignal,
): Promise<void> {
  while (!giveUp.aborted && !haveCaughtUp(readers, ends)) await pause(50);
}

async function readAll(
  { postgres }: LoadedEnvironment,
  collect: Collector,
  agents: readonly Agent[],
  starts: ReadonlyMap<string, string>,
  giveUp: AbortSignal,
): Promise<Pick<History, 'stored' | 'feeds' | 'requests' | 'outbox'>> {
  // One member of each thread searches it.
  const searched = new Set<string>();
  const searches = (thread_id: string) => searched.size < searched.add(thread_id).size;
  const after: Pick<History, 'stored' | 'feeds' | 'requests' | 'outbox'> = {
    stored: [],
    feeds: [],
    requests: [],
    outbox: await waitForEmptyOutbox(postgres.url, giveUp),
  };
  await Promise.all(
    agents.map(async (agent) => {
      after.stored.push(...(await collect.threads(agent, searches)));
      after.feeds.push(await collect.feed(agent, starts.get(agent.id) ?? ''));
      after.requests.push(await collect.requests(agent));
    }),
  );
  return after;
}
