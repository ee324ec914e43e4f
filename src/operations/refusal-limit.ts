import { DomainError } from '../../packages/core/src/domain/errors.ts';
import type { OnBudget } from '../../packages/core/src/domain/limits.ts';
import type { RateLimits } from './rate-limits.ts';

const maxExhausted = 10_000;

/**
 * Counts refused calls against the default budget of their agent, where the call itself does not count. Otherwise a flood of bad input would have
 * no limit. When the budget is exhausted by such calls, each further call of that agent needs it first, until it has points again.
 */
export function createRefusalLimit(limits: RateLimits) {
  const exhausted = new Set<string>();

  async function countRefusal(agentId: string, onBudget: OnBudget | undefined): Promise<void> {
    try {
      await limits.consume('default', agentId, onBudget);
    } catch (error) {
      exhausted.add(agentId);
      for (const oldest of exhausted) {
        if (exhausted.size <= maxExhausted) break;
        exhausted.delete(oldest);
      }
      throw error;
    }
  }

  /**
   * Runs a call.
   * @param isCounted whether the call counts by itself; read when it was refused.
   * @throws {DomainError} RATE_LIMITED, and what the call throws
   */
  return async function withRefusalLimit<T>(
    agentId: string,
    onBudget: OnBudget | undefined,
    run: () => Promise<T>,
    isCounted: () => boolean = () => false,
  ): Promise<T> {
    if (exhausted.has(agentId)) {
      await limits.consume('default', agentId, onBudget);
      exhausted.delete(agentId);
    }
    try {
      return await run();
    } catch (error) {
      if (isRefusal(error) && !isCounted()) await countRefusal(agentId, onBudget);
      throw error;
    }
  };
}

/** Whether the call was refused for its own sake. An exhausted budget is no such refusal: it caused no work. */
function isRefusal(error: unknown): boolean {
  return error instanceof DomainError && error.status < 500 && error.code !== 'RATE_LIMITED';
}
