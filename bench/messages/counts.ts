import { performance } from 'node:perf_hooks';
import type { Core } from '../../src/compose.ts';
import { waitUntil } from '../../src/shared/wait-until.ts';
import type { Database } from '../../src/platform/database/database.ts';
import type { Thread } from '../population.ts';
import { withTimeout } from '../with-timeout.ts';
import type { Receivers } from './receivers.ts';
import type { Senders } from './sends.ts';

/** Counts lost and duplicated frames: each member's socket must receive each acknowledged message once. Waits for late frames. */
export async function countFrames(
  receivers: Receivers,
  { acknowledged }: Pick<Senders, 'acknowledged'>,
  signal: AbortSignal,
): Promise<{ lost: number; duplicated: number }> {
  const count = () => {
    let lost = 0;
    let duplicated = 0;
    for (const [number, { members }] of acknowledged) {
      for (const member of members) {
        const times = receivers.received(member, number);
        if (times === 0) lost += 1;
        if (times > 1) duplicated += times - 1;
      }
    }
    return { lost, duplicated };
  };
  await waitUntil(() => count().lost === 0, { timeoutMs: 10_000, intervalMs: 250, signal });
  return count();
}

/** The number of messages stored in these threads. */
export async function countMessages(database: Database, threads: readonly Thread[]): Promise<number> {
  const text = 'select count(*)::int as rows from messages where thread_id = any($1)';
  const [row] = await database.query<{ rows: number }>({ text }, [threads.map(({ id }) => id)]);
  return row?.rows ?? 0;
}

/** Whether the outbox and the queues that process messages are empty. */
export async function isIdle({ repositories, queues }: Core): Promise<boolean> {
  if ((await repositories.outbox.readAge()).rows > 0) return false;
  const depths = await queues.depths();
  return depths.every(({ queue, waiting, active }) => queue === 'maintenance' || waiting + active === 0);
}

const timeoutMs = 60_000;

/** Waits until outbox and queues are empty. Returns how many milliseconds that took. */
export async function waitUntilIdle(core: Core, signal: AbortSignal): Promise<number> {
  const start = performance.now();
  const empty = await waitUntil(
    () => withTimeout('the depths of the queues', timeoutMs, isIdle(core), signal),
    { timeoutMs, intervalMs: 25, signal },
  );
  if (!empty) throw new Error(`the queue is not empty after ${timeoutMs / 1_000} s`);
  return performance.now() - start;
}
