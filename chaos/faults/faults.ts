import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import type { FaultRecord } from '../history.ts';
import { type PlannedFault, planFaults } from './plan.ts';
import { type Random, seededRandom } from '../random.ts';
import type { ProcessSlot } from './process-slot.ts';
import type { Environment } from '../environment.ts';

/**
 * Injects faults in the order that the seed determines until `over` aborts. Every stopped part is restarted before it returns.
 * @returns the faults, in the order of their start
 */
export async function injectFaults(
  environment: Environment,
  parts: { seed: number; calm_ms: number; over: AbortSignal; log: (line: string) => void },
): Promise<FaultRecord[]> {
  const { seed, calm_ms: maxCalmMs, over, log } = parts;
  const random = seededRandom(seed);
  const done: FaultRecord[] = [];
  const begin = Date.now();

  async function run({ kind, durationMs }: PlannedFault): Promise<void> {
    const begun_at = Date.now();
    log(`${((begun_at - begin) / 1000).toFixed(1).padStart(6)} s  ${kind}`);
    await faults[kind](environment, { random, lasts_ms: durationMs });
    done.push({ kind, begun_at, ended_at: Date.now() });
  }
  const plan = planFaults(random, { redis: environment.redis !== null, calmMs: maxCalmMs });
  for (const { faults: together, calmMs } of plan) {
    if (over.aborted) break;
    await Promise.all(together.map(run));
    await pause(calmMs, undefined, { signal: over }).catch(() => undefined); // the run is over
  }
  return done.toSorted((one, other) => one.begun_at - other.begun_at);
}

type Fault = (environment: Environment, how: { random: Random; lasts_ms: number }) => Promise<void>;

/** Ends one of the processes and starts another in its place. */
function takeDown(slots: 'apis' | 'workers', how: 'kill' | 'stop'): Fault {
  return async (environment, { random, lasts_ms }) => {
    const slot: ProcessSlot = random.pick(environment[slots]);
    await slot[how]();
    await pause(lasts_ms);
    await slot.start();
  };
}

function freezeProcess(slots: 'apis' | 'workers'): Fault {
  return async (environment, { random, lasts_ms }) => {
    const slot: ProcessSlot = random.pick(environment[slots]);
    const thaw = slot.freeze();
    await pause(lasts_ms);
    thaw();
  };
}

const faults: Record<PlannedFault['kind'], Fault> = {
  'API killed': takeDown('apis', 'kill'),
  'API stopped': takeDown('apis', 'stop'),
  'API frozen': freezeProcess('apis'),
  'worker killed': takeDown('workers', 'kill'),
  'worker stopped': takeDown('workers', 'stop'),
  'worker frozen': freezeProcess('workers'),
  async 'sockets cut'({ balancer }, { random }) {
    balancer.dropConnections(() => random.chance(0.7));
  },
  async 'Redis flushed'({ redis }) {
    if (!redis) return;
    // Redis may be restarting: the client then waits for it.
    const client = new Redis(redis.url, { retryStrategy: () => 50, maxRetriesPerRequest: null });
    client.on('error', () => undefined); // the client retries after each error
    await client.flushall();
    client.disconnect();
  },
  async 'Redis restarted'({ redis }, { lasts_ms }) {
    redis?.kill();
    await pause(lasts_ms);
    await redis?.restart();
  },
  async 'PostgreSQL restarted'({ postgres }, { lasts_ms }) {
    postgres.kill();
    await pause(lasts_ms);
    await postgres.restart();
  },
};
