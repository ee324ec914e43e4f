import type { Context } from 'koa';
import type { BudgetState, OnBudget } from '../../../packages/core/src/domain/limits.ts';

/**
 * Returns a callback that sets the rate limit headers of a response (draft-ietf-httpapi-ratelimit-headers). A request may
 * consume several budgets; the headers contain the last state of each.
 */
export function createRateLimitReporter(ctx: Context): OnBudget {
  const budgets = new Map<string, BudgetState>();
  return (state) => {
    budgets.set(state.budget, state);
    const all = [...budgets.values()];
    const policies = all.map(({ budget, points, seconds }) => `"${budget}";q=${points};w=${seconds}`);
    ctx.set('RateLimit-Policy', policies.join(', '));
    const states = all.map(({ budget, remaining, reset }) => `"${budget}";r=${remaining};t=${reset}`);
    ctx.set('RateLimit', states.join(', '));
  };
}
