import type { UnitOfWork } from '../../work/unit-of-work.ts';
import type { RateLimits } from '../rate-limits.ts';
import { createRefusalLimit } from '../refusal-limit.ts';
import { type CallContext, mayNeedApproval, type Stage } from './context.ts';

/**
 * Counts calls against the default budget of their agent. Operations without a budget of their own count at once, before the input is
 * parsed: a call with bad input counts too. So do calls that may need approval; the approval stage counts them against their own budget.
 * A refused call of an operation with its own budget counts as `createRefusalLimit` says: a flood of unknown ids has a fresh budget for each.
 * @throws {DomainError} RATE_LIMITED
 */
export function createRateLimit(limits: RateLimits): Stage {
  const withRefusalLimit = createRefusalLimit(limits);

  return function rateLimit(operation, next) {
    return async (context) => {
      const { actor, onRateLimit, already_consumed } = context.call;
      const { agent_id } = actor;
      if (already_consumed) return next(context);
      if (operation.limit === undefined || mayNeedApproval(context.call)) {
        await limits.consume('default', agent_id, onRateLimit);
        return next(context);
      }
      return withRefusalLimit(agent_id, onRateLimit, () => next(context));
    };
  };
}

/** Counts calls against the operation's own budget, unless the approval stage decides whether they count. */
export function createOwnRateLimit(unitOfWork: UnitOfWork, limits: RateLimits): Stage {
  return function ownRateLimit(operation, next) {
    if (operation.limit === undefined) return next;
    return async (context) => {
      if (!mayNeedApproval(context.call)) await consumeOwnBudget(unitOfWork, limits, context);
      return next(context);
    };
  };
}

/**
 * Counts the call against the operation's own budget, if it has one; at most once for each call. A batch counts as many calls as it has
 * parts: those that the budget allows can run.
 * @throws {DomainError} RATE_LIMITED when the budget allows none
 */
export async function consumeOwnBudget(
  unitOfWork: UnitOfWork,
  limits: RateLimits,
  context: CallContext,
): Promise<void> {
  const { operation, actor, onRateLimit } = context.call;
  const { limit } = operation;
  if (limit === undefined || context.isBudgetConsumed) return;
  const budget = limit.budgetOf?.(context.input) ?? limit.budget;
  context.isBudgetConsumed = true;
  const part = limit.findKey
    ? await unitOfWork.read(actor, async (work) => limit.findKey?.(work, context.input))
    : limit.key?.(context.input);
  const key = part === undefined ? actor.agent_id : `${actor.agent_id}:${part}`;
  const calls = limit.countParts?.(context.input) ?? 1;
  const allowance = await limits.consumeCalls(budget, key, calls, onRateLimit);
  if (allowance.refusal && allowance.allowed === 0) throw allowance.refusal;
  context.allowance = allowance;
}
