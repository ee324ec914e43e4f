import { randomUUID } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { CallerName } from '../history.ts';
import { createCallers } from './callers.ts';
import { type ClaimedItem, claimItems, type Instance } from './claims.ts';
import type { LoadContext } from './context.ts';
import { isEmpty, redriveItem } from './inbox-actions.ts';
import { type CourseName, followCourse, isSlow, pickCourse } from './lease-courses.ts';
import { createLeaseWrites, type LeaseWrites } from './lease-writes.ts';
import type { Agent } from './population.ts';
import { createRetry, type Outcomes, type Retry } from './retry.ts';

const kinds: readonly CallerName[] = ['REST', 'tool', 'call'];
const maxClaim = 10;
/** While it drains, an instance claims as many items as it can. */
const maxDrainClaim = 100;
const pauseMs = 50;
/** Share of claims after which the instance is killed, and how long it lives at most. */
const killChance = 0.02;
const maxLifeMs = 300;
/** Share of claims after which the instance looks for a dead item. */
const redriveChance = 0.05;

/** An instance until it is killed or the run ends. */
interface Life extends Instance {
  writes: LeaseWrites;
  retry: Retry;
  kill(): void;
}

export interface Instances {
  /** From now on the instances only acknowledge. Resolves when no item is ready or leased, or `giveUp` aborts. */
  drain(giveUp: AbortSignal): Promise<void>;
  stop(): Promise<void>;
}

/**
 * Runs the instances of all agents with an inbox, one over each transport. A killed instance loses its requests and forgets its leases;
 * another one takes its place.
 */
export function startInstances(
  context: LoadContext,
  { outcomes, abandoned }: { outcomes: Outcomes; abandoned: AbortSignal },
): Instances {
  const { random, history, findAgent } = context;
  const agents = history.inboxes.map(({ agent_id }) => findAgent(agent_id));
  const stopped = new AbortController();
  const slow = new Set<Promise<void>>();
  let isDraining = false;

  async function handle(life: Life, items: readonly ClaimedItem[]): Promise<void> {
    const { writes, signal } = life;
    const together: ClaimedItem[] = [];
    const quick = items.map((item) => {
      const isRedriven = history.redrives.some(({ event_id }) => event_id === item.lease.event_id);
      const drainCourse: CourseName = life.kind === 'tool' ? 'acknowledge' : 'acknowledge many';
      const course = isDraining ? drainCourse : pickCourse(item, life, { random, isRedriven });
      item.lease.course = course;
      if (course === 'acknowledge many') together.push(item);
      const running = followCourse(course, { item, writes, random, signal });
      if (!isSlow(course)) return running;
      slow.add(running);
      void running.finally(() => slow.delete(running));
      return undefined;
    });
    await Promise.all([...quick, writes.acknowledgeAll(together.map(({ lease }) => lease))]);
  }

  async function live(life: Life): Promise<void> {
    const { signal, consumer, retry, kill } = life;
    while (!signal.aborted && !stopped.signal.aborted) {
      const claim = await claimItems(life, isDraining ? maxDrainClaim : 1 + random.below(maxClaim));
      if ('refused' in claim) outcomes.complaints.push(`a claim of ${consumer}: ${claim.refused}`);
      if ('doubt' in claim && !signal.aborted) retry.countDoubt(claim.doubt);
      const items = 'answer' in claim ? claim.answer : [];
      history.leases.push(...items.map(({ lease }) => lease));
      if (!isDraining && items.length > 0 && random.chance(killChance))
        setTimeout(kill, random.below(maxLifeMs));
      await handle(life, items).catch((error: unknown) => {
        if (!signal.aborted) throw error;
      });
      if (!isDraining && !signal.aborted && random.chance(redriveChance)) await redriveItem(context, life);
      await pause(items.length === 0 ? pauseMs : 0);
    }
    kill();
  }

  const running = Promise.all(
    agents.flatMap((agent) =>
      kinds.map(async (kind) => {
        while (!stopped.signal.aborted && !abandoned.aborted)
          await live(startLife(context, { agent, kind, outcomes, abandoned }));
      }),
    ),
  );

  return {
    async drain(giveUp) {
      isDraining = true;
      await Promise.all(slow);
      while (!giveUp.aborted) {
        const empty = await Promise.all(agents.map((agent) => isEmpty(context, agent)));
        if (!empty.includes(false)) return;
        await pause(4 * pauseMs);
      }
    },
    async stop() {
      stopped.abort();
      await running;
    },
  };
}

function startLife(
  { base, random }: LoadContext,
  parts: { agent: Agent; kind: CallerName; outcomes: Outcomes; abandoned: AbortSignal },
): Life {
  const { agent, kind, outcomes, abandoned } = parts;
  const killed = new AbortController();
  const signal = AbortSignal.any([killed.signal, abandoned]);
  setMaxListeners(0, signal); // every call adds a listener
  const callers = createCallers(base, agent);
  const caller = callers[kind];
  const retry = createRetry(outcomes, random, signal);
  const kill = () => {
    killed.abort();
    callers.cut();
  };
  const writes = createLeaseWrites({ caller, retry, signal });
  return {
    agent_id: agent.id,
    consumer: `${kind}-${randomUUID()}`,
    kind,
    caller,
    signal,
    retry,
    writes,
    kill,
  };
}
