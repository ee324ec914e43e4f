import type { Context } from 'koa';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

export interface UpdateParts {
  limits: RateLimits;
  /** Has the task of a callback address read. Undefined: this service has no remote agents. */
  noteCallback?: ((sealed: string) => Promise<void>) | undefined;
}

/** Takes the push notifications of remote agents. Their bodies are not read: the task itself is. */
export function takeUpdate({ limits, noteCallback }: UpdateParts) {
  return async function update(ctx: Context): Promise<void> {
    const { sealed } = ctx['params'] as { sealed: string };
    if (!noteCallback) return;
    await limits.consume('default', `callback ${sealed.slice(0, 200)}`, createRateLimitReporter(ctx));
    await noteCallback(sealed);
    // The same answer for every address.
    ctx.status = 204;
  };
}
