import type { Context } from 'koa';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { actorOf } from '../http/authenticate.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

const maxExhausted = 10_000;

/**
 * Counts calls that are refused before they run an operation against the default budget of their agent: bad input costs work, too. When such
 * calls have exhausted it, each further call of that agent needs it before its body is read, until it has points again.
 */
export function createRefusalCounter(limits: RateLimits) {
  const exhausted = new Set<string>();

  async function consume(ctx: Context): Promise<void> {
    const { agent_id } = actorOf(ctx);
    try {
      await limits.consume('default', agent_id, createRateLimitReporter(ctx));
      exhausted.delete(agent_id);
    } catch (error) {
      exhausted.add(agent_id);
      for (const oldest of exhausted) {
        if (exhausted.size <= maxExhausted) break;
        exhausted.delete(oldest);
      }
      throw error;
    }
  }

  return {
    /**
     * Runs a call. @param serve gets a function that it calls when the call counts by itself.
     * @throws {DomainError} RATE_LIMITED, and what the call throws
     */
    async count(ctx: Context, serve: (onCounted: () => void) => Promise<void>): Promise<void> {
      if (exhausted.has(actorOf(ctx).agent_id)) await consume(ctx);
      let isCounted = false;
      try {
        await serve(() => (isCounted = true));
      } catch (error) {
        const isRefusal = error instanceof DomainError && error.status < 500 && error.code !== 'RATE_LIMITED';
        if (isRefusal && !isCounted) await consume(ctx);
        throw error;
      }
    },
  };
}
