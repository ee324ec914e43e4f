import { randomUUID } from 'node:crypto';
import type { Work } from '../work/unit-of-work.ts';
import { withTimeout } from '../shared/timeout.ts';

export interface PresenceIntervals {
  /** Milliseconds between two signs of life; the lease that they renew is three times the usual 5,000. */
  heartbeat_ms: number;
  /** How long comings and goings gather before they are written, in milliseconds. */
  batch_wait_ms: number;
}

export interface PresenceParts {
  store: Pick<Work['presence'], 'insert' | 'update' | 'remove'>;
  log(message: string, error: unknown): void;
  intervals?: PresenceIntervals | undefined;
}

/** Says to the other processes which agents have readers in this one. */
export interface Presence {
  /** The agent has readers here from now on, or has none any more. */
  change(agentId: string, present: boolean): void;
  /** Takes everything back. Waits for a database that does not answer two seconds at most; the lease then runs out. */
  close(): Promise<void>;
}

/** Agents in one statement, at most. */
const batchSize = 5_000;
const closeTimeoutMs = 2_000;

/**
 * The presence of this process in the database. However many agents come or go, what they cost is a statement now and then: they
 * gather until one is under way no more, and between two of them a single row is renewed, as long as anybody is here. A
 * statement that fails is repeated with the next beat; that it may have had its effect does no harm.
 */
export function createPresence({ store, log, intervals }: PresenceParts): Presence {
  const { heartbeat_ms, batch_wait_ms } = intervals ?? { heartbeat_ms: 5_000, batch_wait_ms: 100 };
  const node_id = randomUUID();
  const here = new Set<string>();
  /** Whose row may not say what is so. */
  const unsaid = new Set<string>();
  let known = false;
  let closed = false;
  let faults = 0;
  let timer: NodeJS.Timeout | undefined;
  let saying: Promise<void> | undefined;

  function plan(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      saying = say();
    }, ms).unref();
  }

  async function say(): Promise<void> {
    const batch = [...unsaid].slice(0, batchSize);
    for (const agentId of batch) unsaid.delete(agentId);
    try {
      await write(batch);
      faults = 0;
    } catch (error) {
      for (const agentId of batch) unsaid.add(agentId);
      faults += 1;
      if (faults === 1) log('who is online here was not written', error);
    }
    saying = undefined;
    if (closed) return;
    if (faults > 0 || here.size > 0 || unsaid.size > 0)
      plan(faults === 0 && unsaid.size > 0 ? batch_wait_ms : heartbeat_ms);
  }

  async function write(batch: readonly string[]): Promise<void> {
    const come = batch.filter((agentId) => here.has(agentId));
    const gone = batch.filter((agentId) => !here.has(agentId));
    if (known && (await store.update(node_id, { come, gone }))) return;
    // The first time; or it was silent for so long that it was taken for dead, and its rows were removed.
    await store.insert(node_id, [...here]);
    known = true;
  }

  return {
    change(agentId, present) {
      if (closed) return;
      if (present) here.add(agentId);
      else here.delete(agentId);
      // What gathers already travels with the next statement; while the database is away, that is the next beat.
      if (unsaid.size === 0 && !saying && faults === 0) plan(batch_wait_ms);
      unsaid.add(agentId);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await withTimeout(closeTimeoutMs, leave(), () => undefined);
    },
  };

  async function leave(): Promise<void> {
    try {
      await saying;
      if (known) await store.remove(node_id);
    } catch (error) {
      log('who was online here is still said to be, for as long as the lease lasts', error);
    }
  }
}
