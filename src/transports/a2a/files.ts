import type { Context } from 'koa';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { addressKey } from '../http/address-key.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

export interface FileParts {
  limits: RateLimits;
  /** Returns where the file of an address can be downloaded. Throws NOT_FOUND, ATTACHMENT_NOT_READY, ATTACHMENT_INFECTED. */
  readFileAddress(sealed: string): Promise<string>;
}

/** Serves the addresses of files: each redirects to the store, once the file is scanned. They need no token. */
export function serveFile({ limits, readFileAddress }: FileParts) {
  return async function file(ctx: Context): Promise<void> {
    await limits.consume('public', addressKey(ctx), createRateLimitReporter(ctx));
    const { sealed } = ctx['params'] as { sealed: string };
    ctx.redirect(await readFileAddress(sealed));
    ctx.body = '';
  };
}
