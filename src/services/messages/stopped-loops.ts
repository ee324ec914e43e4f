import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork } from '../../work/unit-of-work.ts';

/** Counts the refusal of the loop guard that rolled a transaction back: the transaction has undone its own count. */
export async function countStoppedLoop(
  { db, now }: Pick<ReadWork, 'db' | 'now'>,
  cause: unknown,
): Promise<void> {
  if (cause instanceof DomainError && cause.stopped_loop)
    await db.usage.addStoppedLoops([cause.stopped_loop], now);
}
