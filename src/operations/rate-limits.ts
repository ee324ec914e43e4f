import { DomainError } from '../domain/errors.ts';
import type { Budget, OnBudget } from '../domain/limits.ts';
import type { Limiter } from '../platform/rate-limits/limiter.ts';

export interface RateLimits {
  /**
   * Counts one call against a budget.
   * @param key an agent's id, with the further key of the budget, or an IP address.
   * @param onBudget receives the state of the budget, also when it is exhausted; not called when limits are off.
   * @throws {DomainError} RATE_LIMITED, with the seconds until the next period.
   */
  consume(budget: Budget, key: string, onBudget?: OnBudget): Promise<void>;
}

/** Rate limits over counters that all processes share. */
export function createRateLimits(limiter: Limiter<Budget>): RateLimits {
  return {
    async consume(budget, key, onBudget) {
      const balance = await limiter.consume(budget, key);
      if (!balance) return;
      const { points, seconds } = balance.limit;
      const reset = Math.max(1, Math.ceil(balance.resetMs / 1_000));
      onBudget?.({ budget, points, seconds, remaining: balance.remaining, reset });
      if (balance.isAllowed) return;
      const message = `Too many calls: the limit ${budget} is ${points} in ${seconds} s; try again in ${reset} s.`;
      throw new DomainError('RATE_LIMITED', message, { retry_after: reset });
    },
  };
}
