import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Operation } from '../define.ts';
import type { Run } from './context.ts';

/** Milliseconds. Longer than a look-up takes, so that nearly every answer leaves at the end of the first interval. */
export const padIntervalMs = 20;

/**
 * Delays "not found" to the end of an interval since the call began. Looking up a hidden record takes other steps than looking up an
 * absent one; the response time must not distinguish them. The delay is outside the transaction, so that it holds no connection. A batch
 * with a part that is "not found" is delayed too.
 */
export function padNotFound(operation: Operation, next: Run): Run {
  return async (context) => {
    const began = performance.now();
    try {
      const answer = await next(context);
      if (operation.hasNotFound?.(answer.output)) await waitForInterval(began);
      return answer;
    } catch (error) {
      if (error instanceof DomainError && error.status === 404) await waitForInterval(began);
      throw error;
    }
  };
}

function waitForInterval(began: number): Promise<void> {
  const delayMs = padIntervalMs - ((performance.now() - began) % padIntervalMs);
  return new Promise((resolve) => setTimeout(resolve, delayMs));
}
