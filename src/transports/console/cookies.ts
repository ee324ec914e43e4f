import type { Context } from 'koa';

/** Cookies: session, browser without a session, message for the next page, pending external sign-in, earlier sign-in, and what a browser has chosen. */
type CookieName = 'session' | 'browser' | 'flash' | 'external' | 'known' | 'density' | 'letters';

/**
 * The full name of a cookie. Over https it has the prefix `__Host-` (RFC 6265bis, section 4.1.3), so that other hosts of the same
 * domain cannot set it.
 */
function cookieName(ctx: Context, name: CookieName): string {
  return ctx.cookies.secure ? `__Host-ams_${name}` : `ams_${name}`;
}

/** The message is text of the page, so others may not write one. The other values prove themselves, or need no proof. */
const isSigned = (name: CookieName): boolean => name === 'flash';

/** Sets a cookie that scripts cannot read and that cross-site forms do not send. */
export function setCookie(ctx: Context, name: CookieName, value: string | null, lifetimeMs?: number): void {
  ctx.cookies.set(cookieName(ctx, name), value, {
    signed: isSigned(name),
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    overwrite: true,
    ...(lifetimeMs !== undefined && { maxAge: lifetimeMs }),
  });
}

/** The value of a cookie of the request. */
export function cookieOf(ctx: Context, name: CookieName): string | undefined {
  return ctx.cookies.get(cookieName(ctx, name), { signed: isSigned(name) });
}
