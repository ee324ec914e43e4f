import type { Context } from 'koa';
import { renderToString } from 'preact-render-to-string';
import type { Person } from '../../domain/auth/actor.ts';
import { type Assets, loadAssets } from './assets.ts';
import { createCsrf, type Csrf } from './csrf.ts';
import { keepFlash, takeFlash } from './flash.ts';
import { LayoutContextProvider } from './components/layout-context.ts';
import { Layout } from './components/layout.tsx';
import { type ErrorPageContent, messagePage } from './pages/error.tsx';
import type { Answer, Redirect, ShownPage } from './route.ts';

export interface PageRendererParts {
  /** PUBLIC_URL, without a trailing slash. */
  public_url: string;
  /** Signs what forms carry. */
  csrf_key: Buffer;
}

/** Writes pages of the console, also for other doors that a person's browser comes to. */
export interface PageRenderer {
  assets: Assets;
  csrf: Csrf;
  /** Prepares the answer to a browser, whatever it will be. */
  prepare(ctx: Context): void;
  render(ctx: Context, person: Person | undefined, answer: Answer): void;
  /** A page for somebody whose way ends here; the status is set. */
  errorPage(ctx: Context, words: ErrorPageContent): void;
}

export async function createPageRenderer({ public_url, csrf_key }: PageRendererParts): Promise<PageRenderer> {
  const assets = await loadAssets();
  const csrf = createCsrf(csrf_key, public_url);
  const secure = public_url.startsWith('https:');

  function prepare(ctx: Context): void {
    // Behind a proxy that speaks https for us the connection itself does not look secure.
    ctx.cookies.secure = secure;
    ctx.set('X-Frame-Options', 'DENY');
    // Without any referrer browsers leave the origin out of forms, too.
    ctx.set('Referrer-Policy', 'same-origin');
  }

  function showPage(ctx: Context, person: Person | undefined, page: ShownPage): void {
    const flash = takeFlash(ctx);
    const frame = { person, path: ctx.path, flash, assets, csrf: () => csrf.tokenFor(ctx, person) };
    const html = renderToString(
      <LayoutContextProvider value={frame}>
        <Layout {...page} />
      </LayoutContextProvider>,
    );
    ctx.status = page.status ?? 200;
    if (page.retry_after !== undefined) ctx.set('Retry-After', String(page.retry_after));
    ctx.set('Content-Security-Policy', contentSecurityPolicy(page.form_target));
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = `<!doctype html>${html}`;
  }

  return {
    assets,
    csrf,
    prepare,
    render(ctx, person, answer) {
      if (answer === 'handled') return;
      if ('to' in answer) redirect(ctx, answer);
      else showPage(ctx, person, answer);
    },
    errorPage(ctx, words) {
      prepare(ctx);
      showPage(ctx, undefined, messagePage(words, ctx.status));
    },
  };
}

/** See Other: what the browser loads next is a page, whatever it just sent (RFC 9110, section 15.4.4). */
function redirect(ctx: Context, { to, flash }: Redirect): void {
  if (flash) keepFlash(ctx, flash);
  ctx.redirect(to);
  ctx.status = 303;
}

/** Nothing from elsewhere, no scripts, no frames around it, and forms lead nowhere but here. */
function contentSecurityPolicy(form_target: string | undefined): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    // Chromium holds the redirects that follow a form to this, too: the one to the client must be named.
    `form-action 'self'${form_target === undefined ? '' : ` ${cspSource(form_target)}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}

/** The addresses of IPv6 are no sources of a policy (CSP level 3, section 2.3.1): of those only the scheme is named. */
function cspSource(target: string): string {
  return target.includes('[') ? target.replace(/:.*$/, ':') : target;
}
