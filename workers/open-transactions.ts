import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../src/compose.ts';

/** Interval between two checks for open transactions. */
const pollIntervalMs = 100;

/** Waits until every transaction that is open now has ended: it may still commit what it read before. @param stop aborts with its reason */
export async function waitForOpenTransactions(
  { db: { erasure } }: Pick<Core, 'db'>,
  stop: AbortSignal,
): Promise<void> {
  const now = await erasure.readDatabaseTime();
  while (await erasure.hasOpenTransactionSince(now)) {
    stop.throwIfAborted();
    await pause(pollIntervalMs);
  }
}
