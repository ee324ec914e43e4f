import type { ComponentChildren } from 'preact';
import type { Context } from 'koa';
import { renderToString } from 'preact-render-to-string';
import type { Person } from '../../../packages/core/src/domain/auth/actor.ts';
import type { Signer } from '../../shared/signer.ts';
import { type Assets, loadAssets } from './assets.ts';
import { createCsrf, type Csrf } from './csrf.ts';
import { type Flash, keepFlash, takeFlash } from './flash.ts';
import { keptFormOf } from './kept-form.ts';
import { createKnownBrowsers, type KnownBrowsers } from './known-browsers.ts';
import { type LayoutContext, LayoutContextProvider } from './components/layout-context.ts';
import { Layout } from './components/layout.tsx';
import { type ErrorPageContent, messagePage } from './pages/error.tsx';
import type { Answer, Redirect, ShownPage } from './route.ts';
import { preferencesOf } from './preferences.ts';
import { timeZoneOf } from './time-zone.ts';

export interface PageRendererParts {
  /** PUBLIC_URL, without a trailing slash. */
  public_url: string;
  /** Signs CSRF tokens, and the cookies of known browsers. */
  forms: Signer;
}

/** What the pages with the navigation show of a person. */
export interface PersonState {
  openApprovals: number;
  /** Whether the person has turned notifications of the browser on. */
  notifies: boolean;
}

/** The paths of watch links. They have a secret. */
export const watchPaths = /^\/watch(?:\/|$)/;

const noState: PersonState = { openApprovals: 0, notifies: false };

/** Renders console pages, also for other transports that answer browsers. */
export interface PageRenderer {
  assets: Assets;
  csrf: Csrf;
  knownBrowsers: KnownBrowsers;
  /** Sets the security headers and cookie options of every response. */
  prepare(ctx: Context): void;
  render(ctx: Context, person: Person | undefined, answer: Answer, state?: PersonState): void;
  /** Renders a part of a page. */
  renderFragment(ctx: Context, person: Person | undefined, content: ComponentChildren): string;
  /** Shows an error page. The status must be set. */
  errorPage(ctx: Context, content: ErrorPageContent): void;
}

/** Loads the assets and creates the renderer. */
export async function createPageRenderer({ public_url, forms }: PageRendererParts): Promise<PageRenderer> {
  const assets = await loadAssets();
  const csrf = createCsrf(forms, public_url);
  const isSecure = public_url.startsWith('https:');

  function prepare(ctx: Context): void {
    // Behind a TLS proxy the connection itself is not secure.
    ctx.cookies.secure = isSecure;
    ctx.set('X-Frame-Options', 'DENY');
    if (watchPaths.test(ctx.path)) {
      ctx.set({ 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex', 'Cache-Control': 'no-store' });
      return;
    }
    // Without a referrer, browsers also omit the Origin header of forms.
    ctx.set('Referrer-Policy', 'same-origin');
  }

  function contextOf(ctx: Context, person: Person | undefined): Omit<LayoutContext, keyof PersonState> {
    const csrfToken = () => csrf.tokenFor(ctx, person);
    return {
      ...preferencesOf(ctx),
      person,
      path: ctx.path,
      method: ctx.method,
      timeZone: timeZoneOf(ctx, person),
      flash: undefined,
      assets,
      keptForm: undefined,
      csrf: csrfToken,
    };
  }

  function showPage(ctx: Context, person: Person | undefined, page: ShownPage, state = noState): void {
    const keptForm = keptFormOf(ctx);
    const flash = keptForm ? keptNotice : page.shell === 'watch' ? undefined : takeFlash(ctx);
    const context = { ...contextOf(ctx, person), flash, keptForm, ...state };
    const html = renderToString(
      <LayoutContextProvider value={context}>
        <Layout {...page} />
      </LayoutContextProvider>,
    );
    ctx.status = page.status ?? 200;
    if (page.retry_after !== undefined) ctx.set('Retry-After', String(page.retry_after));
    ctx.set('Content-Security-Policy', contentSecurityPolicy(page, person));
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = `<!doctype html>${html}`;
  }

  return {
    assets,
    csrf,
    knownBrowsers: createKnownBrowsers(forms),
    prepare,
    render(ctx, person, answer, state) {
      if (answer === 'handled') return;
      if ('to' in answer) redirect(ctx, answer);
      else showPage(ctx, person, answer, state);
    },
    renderFragment(ctx, person, content) {
      const context = { ...contextOf(ctx, person), ...noState };
      return renderToString(<LayoutContextProvider value={context}>{content}</LayoutContextProvider>);
    },
    errorPage(ctx, content) {
      prepare(ctx);
      showPage(ctx, undefined, messagePage(content, ctx.status));
    },
  };
}

const keptNotice: Flash = {
  tone: 'warning',
  text: 'The form was not sent before you signed in. Check what you entered and send it. Passwords and files are not kept.',
};

/** Redirects with 303, so that the browser continues with GET (RFC 9110, section 15.4.4). */
function redirect(ctx: Context, { to, flash, undo, warning }: Redirect): void {
  if (flash !== undefined) keepFlash(ctx, { tone: 'good', text: flash, undo });
  if (warning !== undefined) keepFlash(ctx, { tone: 'warning', text: warning });
  ctx.redirect(to);
  ctx.status = 303;
}

/** The digest of the styles that Turbo adds for its progress bar. A test in a browser fails when they change. */
const turboStyles = 'sha256-WAyOw4V+FqDc35lQPyRADLBWbuNK8ahvYEaQIYF1+Ps=';

/**
 * Allows no external resources, no framing, and forms only to this origin. Live pages load scripts of this origin and connect
 * to it; the start page only has buttons that copy, and the sign-in a box that shows the password. Chromium also applies `form-action` to every redirect after a form, and a client may
 * redirect to anywhere, so pages that lead to one do not have it.
 */
function contentSecurityPolicy(page: ShownPage, person: Person | undefined) {
  const { shell = 'console', form_leaves, asksPassword = false } = page;
  const isLive = shell === 'watch' || (shell === 'console' && person !== undefined);
  return [
    "default-src 'none'",
    ...(isLive || shell === 'start' || asksPassword ? ["script-src 'self'"] : []),
    ...(isLive ? ["connect-src 'self'"] : []),
    `style-src 'self'${isLive ? ` '${turboStyles}'` : ''}`,
    "img-src 'self'",
    ...(form_leaves ? [] : [`form-action ${shell === 'watch' ? "'none'" : "'self'"}`]),
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
