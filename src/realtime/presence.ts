import { randomUUID } from 'node:crypto';
import type { Work } from '../work/unit-of-work.ts';
import { withTimeout } from '../shared/timeout.ts';

export interface PresenceIntervals {
  /** Milliseconds between two heartbeats. They renew a lease of 15 s, three times the default of 5,000. */
  heartbeat_ms: number;
  /** How long changes are collected before they are written, in milliseconds. */
  batch_wait_ms: number;
}

export interface PresenceParts {
  store: Pick<Work['db']['presence'], 'insert' | 'update' | 'remove'>;
  log(message: string, error: unknown): void;
  intervals?: PresenceIntervals | undefined;
}

/** Records in the database which agents have readers in this process. */
export interface Presence {
  change(agentId: string, isPresent: boolean): void;
  /** Removes all agents. Waits for the database at most two seconds; after that the lease expires. */
  close(): Promise<void>;
}

/** Maximum agents in one statement. */
const batchSize = 5_000;
const closeTimeoutMs = 2_000;

/**
 * Changes are collected and written together, one statement at a time. While any agent is present, each heartbeat renews one
 * row. A failed statement is repeated at the next heartbeat: all of them are idempotent.
 */
export function createPresence({ store, log, intervals }: PresenceParts): Presence {
  const { heartbeat_ms, batch_wait_ms } = intervals ?? { heartbeat_ms: 5_000, batch_wait_ms: 100 };
  const node_id = randomUUID();
  const present = new Set<string>();
  /** Agents whose row may be out of date. */
  const changed = new Set<string>();
  let isRegistered = false;
  let closed = false;
  let failures = 0;
  let timer: NodeJS.Timeout | undefined;
  let flushing: Promise<void> | undefined;

  function schedule(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      flushing = flush();
    }, ms).unref();
  }

  async function flush(): Promise<void> {
    const batch = [...changed].slice(0, batchSize);
    for (const agentId of batch) changed.delete(agentId);
    try {
      await write(batch);
      failures = 0;
    } catch (error) {
      for (const agentId of batch) changed.add(agentId);
      failures += 1;
      if (failures === 1) log('cannot write the presence of agents', error);
    }
    flushing = undefined;
    if (closed) return;
    if (failures > 0 || present.size > 0 || changed.size > 0)
      schedule(failures === 0 && changed.size > 0 ? batch_wait_ms : heartbeat_ms);
  }

  async function write(batch: readonly string[]): Promise<void> {
    const arrived = batch.filter((agentId) => present.has(agentId));
    const left = batch.filter((agentId) => !present.has(agentId));
    if (isRegistered && (await store.update(node_id, { arrived, left }))) return;
    // The first write; or the lease had expired, and the rows of this process were removed.
    await store.insert(node_id, [...present]);
    isRegistered = true;
  }

  return {
    change(agentId, isPresent) {
      if (closed) return;
      if (isPresent) present.add(agentId);
      else present.delete(agentId);
      // A statement is scheduled already when there are other changes, a write in progress, or a retry due.
      if (changed.size === 0 && !flushing && failures === 0) schedule(batch_wait_ms);
      changed.add(agentId);
    },
    async close() {
      closed = true;
      clearTimeout(timer);
      await withTimeout(closeTimeoutMs, removeAll(), () => undefined);
    },
  };

  async function removeAll(): Promise<void> {
    try {
      await flushing;
      if (isRegistered) await store.remove(node_id);
    } catch (error) {
      log('cannot remove the presence of agents; it ends with the lease', error);
    }
  }
}
