import type { Context } from 'koa';
import { cookieOf, setCookie } from './cookies.ts';
import { action, safeReturnPath } from './route.ts';

const yearMs = 31_536_000_000;

/** Whether this browser shows lists and messages closer together. */
export const isCompact = (ctx: Context): boolean => cookieOf(ctx, 'density') === 'compact';

/** Where the form posts to. */
export const densityPath = '/console/density';

/** Keeps the density for this browser, and returns to the page. */
export const densityAction = action(densityPath, ({ ctx, form }) => {
  setCookie(ctx, 'density', form.get('density') === 'compact' ? 'compact' : 'comfortable', yearMs);
  return { to: safeReturnPath(form.get('to')) };
});
