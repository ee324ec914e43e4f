import type { Context } from 'koa';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { addressKey } from '../http/address-key.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

/** What the addresses of callbacks stand for. */
export interface CallbackParts<Callback extends { message_id: string } = { message_id: string }> {
  /** Undefined: the address is none of this service. */
  read(sealed: string): Callback | undefined;
  /** Has the task of the callback read. */
  note(callback: Callback): Promise<void>;
}

export interface UpdateParts {
  limits: RateLimits;
  /** Undefined: this service has no remote agents. */
  callbacks?: CallbackParts | undefined;
}

/** Takes the push notifications of remote agents. Their bodies are not read: the task itself is. Every address gets the same answer. */
export function takeUpdate({ limits, callbacks }: UpdateParts) {
  return async function update(ctx: Context): Promise<void> {
    if (!callbacks) return;
    const { sealed } = ctx['params'] as { sealed: string };
    const callback = callbacks.read(sealed);
    const onBudget = createRateLimitReporter(ctx);
    if (callback) await limits.consume('default', `callback ${callback.message_id}`, onBudget);
    else await limits.consume('public', addressKey(ctx), onBudget);
    if (callback) await callbacks.note(callback);
    ctx.status = 204;
  };
}
