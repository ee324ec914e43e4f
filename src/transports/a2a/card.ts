import type { Context } from 'koa';
import type { A2aCard } from '../../presenters/a2a/card-schema.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { addressKey } from '../http/address-key.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

export interface CardParts {
  limits: RateLimits;
  /** Throws AGENT_NOT_FOUND. */
  readCard(handle: string): Promise<A2aCard>;
}

/** Serves the card of an agent. */
export function serveCard({ limits, readCard }: CardParts) {
  return async function card(ctx: Context): Promise<void> {
    const { owner, agent_name } = ctx['params'] as { owner: string; agent_name: string };
    await limits.consume('public', addressKey(ctx), createRateLimitReporter(ctx));
    ctx.body = await readCard(`${owner}.${agent_name}`);
  };
}
