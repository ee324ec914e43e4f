import type { Context } from 'koa';
import type { BudgetState, OnBudget } from '../../domain/limits.ts';

/**
 * Writes how budgets stand into the answer, whatever it will be (draft-ietf-httpapi-ratelimit-headers, in the form of structured
 * fields). A call may take from two; each is told once, as it stands last.
 */
export function createRateLimitReporter(ctx: Context): OnBudget {
  const told = new Map<string, BudgetState>();
  return (state) => {
    told.set(state.budget, state);
    const all = [...told.values()];
    const policies = all.map(({ budget, points, seconds }) => `"${budget}";q=${points};w=${seconds}`);
    ctx.set('RateLimit-Policy', policies.join(', '));
    const states = all.map(({ budget, remaining, reset }) => `"${budget}";r=${remaining};t=${reset}`);
    ctx.set('RateLimit', states.join(', '));
  };
}
