import type { Context } from 'koa';
import type { RateLimits } from '../../operations/rate-limits.ts';
import { addressKey } from '../http/address-key.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';

export interface FileParts {
  limits: RateLimits;
  /** Returns the download URL for the address of a file. Throws NOT_FOUND, ATTACHMENT_NOT_READY, ATTACHMENT_INFECTED. */
  readFileAddress(sealed: string): Promise<string>;
}

/** Redirects the address of a file to the store, after the file is scanned. It needs no token. */
export function serveFile({ limits, readFileAddress }: FileParts) {
  return async function file(ctx: Context): Promise<void> {
    await limits.consume('public', addressKey(ctx), createRateLimitReporter(ctx));
    const { sealed } = ctx['params'] as { sealed: string };
    ctx.redirect(await readFileAddress(sealed));
    ctx.body = '';
  };
}
