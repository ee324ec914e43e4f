import { DomainError } from '../domain/errors.ts';
import type { Budget, OnBudget } from '../domain/limits.ts';
import type { Limiter } from '../platform/rate-limits/limiter.ts';

export interface RateLimits {
  /**
   * Takes one call from a budget. Who has it stands in `key`: an agent's id, with what else the budget is counted by, or an
   * address.
   * @param tell hears how the budget stands, also when it is used up. It hears nothing where limits are off.
   * @throws {DomainError} RATE_LIMITED, with the seconds until the next period.
   */
  consume(budget: Budget, key: string, tell?: OnBudget): Promise<void>;
}

/** The limits of the contract, section 9, over a count that all processes share. */
export function createRateLimits(limiter: Limiter<Budget>): RateLimits {
  return {
    async consume(budget, key, tell) {
      const balance = await limiter.consume(budget, key);
      if (!balance) return;
      const { points, seconds } = balance.limit;
      const reset = Math.max(1, Math.ceil(balance.resetMs / 1_000));
      tell?.({ budget, points, seconds, remaining: balance.remaining, reset });
      if (balance.isAllowed) return;
      const message = `Too many calls: the limit ${budget} is ${points} in ${seconds} s; try again in ${reset} s.`;
      throw new DomainError('RATE_LIMITED', message, { retry_after: reset });
    },
  };
}
