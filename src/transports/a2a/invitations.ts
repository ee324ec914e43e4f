import type { Context } from 'koa';
import { z } from 'zod';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { addressKey } from '../http/address-key.ts';
import { createJsonBody } from '../http/json-body.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

/** What an installation tells another one. */
const introduction = z.strictObject({
  card_url: z.string().min(1).max(2_048),
  token: z.string().regex(/^[\w~+/.-]{32,512}=*$/, 'must be a bearer token of at least 32 characters'),
});

export interface InvitationParts {
  limits: RateLimits;
  /** Undefined: this service has no remote agents. Throws NOT_FOUND, VALIDATION_ERROR. */
  redeem?:
    | ((secret: string, redeemer: z.infer<typeof introduction>) => Promise<z.infer<typeof introduction>>)
    | undefined;
}

const readBody = createJsonBody({ maxBytes: 16 * 1024 });

/** Takes the request with which another installation redeems an invitation. Its address needs no token. */
export function redeemInvitation({ limits, redeem }: InvitationParts) {
  return async function invitation(ctx: Context): Promise<void> {
    if (!redeem) return;
    await limits.consume('public', addressKey(ctx), createRateLimitReporter(ctx));
    await readBody(ctx, async () => {
      const { secret } = ctx['params'] as { secret: string };
      ctx.set('Cache-Control', 'no-store');
      ctx.body = await redeem(secret, parseInput(introduction, ctx.request.body));
    });
  };
}
