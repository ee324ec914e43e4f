import { setTimeout as pause } from 'node:timers/promises';
import { createCursors } from '../src/work/cursors.ts';
import { checkHistory } from './check/check.ts';
import type { Violation } from './check/violation.ts';
import { type Collector, createCollector } from './collect.ts';
import { createEventPool } from './event.ts';
import type { FaultRecord, FinalState, History } from './history.ts';
import { type Load, startLoad } from './load/load.ts';
import { type Agent, createPopulation } from './load/population.ts';
import { readStoredTasks } from './outbox.ts';
import { seededRandom } from './random.ts';
import { transportNames, type Reader, startReader } from './reader.ts';
import { haveCaughtUp, waitForRecovery } from './recovery.ts';
import type { Environment } from './environment.ts';
import { timeoutSignal } from './timeout-signal.ts';
import { startWebhookReceiver } from '../scripts/parts/webhook-receiver.ts';

export interface ChaosOptions {
  /** Injects faults during the load and returns them. The load ends when it resolves. */
  injectFaults: () => Promise<FaultRecord[]>;
  seed: number;
  /** `name`: the names of the owners begin with it. */
  size: { agents: number; threads: number; name?: string };
  signal: AbortSignal;
  log: (line: string) => void;
  /** Problems that the environment reported so far. */
  complaints: readonly string[];
  /** How long the service may take to recover after the last fault, in milliseconds; 40,000 by default. */
  recoveryTimeoutMs?: number;
}

/** The properties of a service that the load needs: its address, its settings and the address of its database. */
export type LoadedEnvironment = Pick<Environment, 'base' | 'env'> &
  Partial<Pick<Environment, 'listDifferences'>> & {
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

/** Longer than the lease of a webhook delivery whose worker was killed. */
const defaultRecoveryTimeoutMs = 40_000;

/** Time of load before the first fault, in milliseconds. */
const headStartMs = 1_000;

/**
 * Runs load and faults, waits until the service has recovered, and checks its guarantees. Webhooks are part of the load when the
 * service may send to the loopback interface (WEBHOOK_NETWORKS).
 */
export async function runChaos(environment: LoadedEnvironment, options: ChaosOptions): Promise<ChaosResult> {
  const { seed, size, signal, recoveryTimeoutMs = defaultRecoveryTimeoutMs } = options;
  const { base, env } = environment;
  const cursors = createCursors([env['SECRET_KEY'] ?? '']);
  const population = await createPopulation(env, size, seededRandom(seed));
  const { agents } = population;
  const collect = createCollector(base, cursors, signal);
  const starts = new Map<string, string>();
  for (const agent of agents) starts.set(agent.id, (await collect.feed(agent, null)).cursor ?? '');
  const pool = createEventPool();
  const readers = agents.flatMap((agent, index) => {
    const parts = { base, cursors, agent, pool, cursor: starts.get(agent.id) ?? '' };
    // Every fourth agent has one more reader, which uses all transports in rotation.
    const rotating = index % 4 === 0 ? [startReader({ ...parts, at: transportNames })] : [];
    return [...transportNames.map((name) => startReader({ ...parts, at: [name] })), ...rotating];
  });
  const receiver = env['WEBHOOK_NETWORKS'] === undefined ? null : await startWebhookReceiver();
  let load: Load | undefined;
  try {
    load = await startLoad({ base, population, seed, receiver });
    const run: Run = { environment, collect, agents, starts, readers, load, recoveryTimeoutMs, options };
    await pause(headStartMs);
    const faults = await options.injectFaults();
    signal.throwIfAborted();
    const { settleMs, after } = await recover(run);
    const history: History = {
      threads: population.threads,
      agents: agents.map(({ id }) => id),
      ...load.history,
      readers: readers.map((reader) => reader.history),
      complaints: [
        ...options.complaints,
        ...load.complaints,
        ...((await environment.listDifferences?.()) ?? []),
      ],
      ...after,
    };
    return {
      history,
      faults,
      violations: checkHistory(history),
      uncertainOutcomes: Object.fromEntries(load.uncertainOutcomes),
      settleMs,
    };
  } finally {
    await load?.finish(AbortSignal.abort());
    await load?.finishStreams(AbortSignal.abort());
    await Promise.all([load?.close(), ...readers.map((reader) => reader.stop())]);
    await receiver?.close();
  }
}

interface Run {
  environment: LoadedEnvironment;
  collect: Collector;
  agents: readonly Agent[];
  /** The cursors from which the readers started, by agent. */
  starts: ReadonlyMap<string, string>;
  readers: readonly Reader[];
  load: Load;
  recoveryTimeoutMs: number;
  options: ChaosOptions;
}

/** Ends the load, waits until the service has recovered, and reads the final state. */
async function recover(run: Run): Promise<{ settleMs: number; after: FinalState }> {
  const { environment, collect, agents, starts, readers, load, recoveryTimeoutMs } = run;
  const { signal, log } = run.options;
  const faultsEndedAt = Date.now();
  const giveUp = timeoutSignal(recoveryTimeoutMs, signal);
  log('the last fault is over; waiting for recovery');
  await load.finish(giveUp);
  const last = await load.sendLast(giveUp);
  await load.close();
  const { webhooks } = load.history;
  const outbox_url = environment.postgres.url;
  const parts = { outbox_url, collect, agents, starts, readers, webhooks, last, giveUp };
  const outbox = await waitForRecovery(parts);
  const settleMs = Date.now() - faultsEndedAt;
  signal.throwIfAborted();
  log('reading the final state');
  const after = await readFinalState(run, outbox);
  // Events can arrive during the read: the readers get time to receive them too.
  const ends = new Map(after.feeds.map(({ agent_id, events }) => [agent_id, events.at(-1)?.number ?? 0]));
  const stopWaiting = timeoutSignal(recoveryTimeoutMs, signal);
  while (!stopWaiting.aborted && !haveCaughtUp(readers, ends)) await pause(50);
  await load.finishStreams(stopWaiting);
  await Promise.all(readers.map((reader) => reader.stop()));
  return { settleMs, after };
}

async function readFinalState(
  { environment, collect, agents, starts, load }: Run,
  outbox: string[],
): Promise<FinalState> {
  // One member of each thread searches it.
  const searched = new Set<string>();
  const searches = (thread_id: string) => searched.size < searched.add(thread_id).size;
  const after: FinalState = {
    stored: [],
    feeds: [],
    requests: [],
    downloads: [],
    stored_inboxes: [],
    tasks: [],
    read_tasks: [],
    outbox,
  };
  await Promise.all(
    agents.map(async (agent) => {
      after.stored.push(...(await collect.threads(agent, searches)));
      after.feeds.push(await collect.feed(agent, starts.get(agent.id) ?? ''));
      after.requests.push(await collect.requests(agent));
      after.read_tasks.push(await collect.tasks(agent));
    }),
  );
  after.tasks = await readStoredTasks(
    environment.postgres.url,
    agents.map(({ id }) => id),
  );
  for (const { agent_id } of load.history.inboxes) {
    const agent = agents.find(({ id }) => id === agent_id);
    if (agent) after.stored_inboxes.push(await collect.inbox(agent));
  }
  for (const { answers, draft } of load.history.sends) {
    const thread = after.stored.findLast(({ thread_id }) => thread_id === answers[0]?.thread_id);
    const member = agents.find(({ id }) => id === thread?.agent_id);
    if (!member) continue;
    for (const id of draft.attachment_ids) after.downloads.push(await collect.file(member, id));
  }
  return after;
}
