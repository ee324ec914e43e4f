import { DomainError } from '../../packages/core/src/domain/errors.ts';
import type { Budget, OnBudget } from '../../packages/core/src/domain/limits.ts';
import type { Limiter } from '../platform/rate-limits/limiter.ts';

/** How many of the calls in a batch a budget allows. */
export interface Allowance {
  allowed: number;
  /** The error of the calls after those; null when the budget allows all. */
  refusal: DomainError | null;
}

export interface RateLimits {
  /**
   * Counts one call against a budget.
   * @param key an agent's id, with the further key of the budget, or an IP address.
   * @param onBudget receives the state of the budget, also when it is exhausted; not called when limits are off.
   * @throws {DomainError} RATE_LIMITED, with the seconds until the next period.
   */
  consume(budget: Budget, key: string, onBudget?: OnBudget): Promise<void>;
  /** Counts several calls as `consume` does. Returns how many of them the budget allows, and the error of the others. Never rejects. */
  consumeCalls(budget: Budget, key: string, calls: number, onBudget?: OnBudget): Promise<Allowance>;
}

/** Rate limits over counters that all processes share. */
export function createRateLimits(limiter: Limiter<Budget>): RateLimits {
  async function consumeCalls(
    budget: Budget,
    key: string,
    calls: number,
    onBudget?: OnBudget,
  ): Promise<Allowance> {
    const balance = await limiter.consume(budget, key, calls);
    if (!balance) return { allowed: calls, refusal: null };
    const { points, seconds } = balance.limit;
    const reset = Math.max(1, Math.ceil(balance.resetMs / 1_000));
    onBudget?.({ budget, points, seconds, remaining: balance.remaining, reset });
    if (balance.allowed === calls) return { allowed: calls, refusal: null };
    const message = `Too many calls: the limit ${budget} is ${points} in ${seconds} s; try again in ${reset} s.`;
    const refusal = new DomainError('RATE_LIMITED', message, { retry_after: reset });
    return { allowed: balance.allowed, refusal };
  }

  return {
    consumeCalls,
    async consume(budget, key, onBudget) {
      const { refusal } = await consumeCalls(budget, key, 1, onBudget);
      if (refusal) throw refusal;
    },
  };
}
