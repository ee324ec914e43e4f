import type { Context } from 'koa';

/**
 * Our cookies: who is signed in, a browser in which nobody is, the sentence for the next page, and a sign-in that is under way at
 * another provider.
 */
type CookieName = 'session' | 'browser' | 'flash' | 'external';

/**
 * The full name of a cookie. Over https it is one that only this very host can have set (`__Host-`, RFC 6265bis, section 4.1.3):
 * a neighbour below the same domain cannot plant one.
 */
export function cookieName(ctx: Context, name: CookieName): string {
  return ctx.cookies.secure ? `__Host-ams_${name}` : `ams_${name}`;
}

/** Sets a cookie that no script reads and that other sites do not send along with forms. */
export function setCookie(ctx: Context, name: CookieName, value: string | null, life_ms?: number): void {
  ctx.cookies.set(cookieName(ctx, name), value, {
    signed: false,
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    overwrite: true,
    ...(life_ms !== undefined && { maxAge: life_ms }),
  });
}

export function cookieOf(ctx: Context, name: CookieName): string | undefined {
  return ctx.cookies.get(cookieName(ctx, name), { signed: false });
}
