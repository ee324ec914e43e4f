import type { Context } from 'koa';
import { renderToString } from 'preact-render-to-string';
import type { Person } from '../domain/person.ts';
import type { Assets } from './assets.ts';
import type { Csrf } from './csrf.ts';
import { keepFlash, takeFlash } from './flash.ts';
import { FrameProvider } from './frame.ts';
import { Layout } from './kit/layout.tsx';
import type { Answer, Redirected, ShownPage } from './route.ts';

export interface AnswerParts {
  assets: Assets;
  csrf: Csrf;
}

/** Writes what a route answers. */
export function writeAnswer(
  ctx: Context,
  person: Person | undefined,
  answer: Answer,
  parts: AnswerParts,
): void {
  if (answer === 'handled') return;
  if ('to' in answer) redirect(ctx, answer);
  else showPage(ctx, person, answer, parts);
}

/** See Other: what the browser loads next is a page, whatever it just sent (RFC 9110, section 15.4.4). */
function redirect(ctx: Context, { to, flash }: Redirected): void {
  if (flash) keepFlash(ctx, flash);
  ctx.redirect(to);
  ctx.status = 303;
}

function showPage(ctx: Context, person: Person | undefined, page: ShownPage, parts: AnswerParts): void {
  const { assets, csrf } = parts;
  const frame = {
    person,
    path: ctx.path,
    flash: takeFlash(ctx),
    assets,
    csrf: () => csrf.tokenFor(ctx, person),
  };
  const html = renderToString(
    <FrameProvider value={frame}>
      <Layout {...page} />
    </FrameProvider>,
  );
  ctx.status = page.status ?? 200;
  if (page.retry_after !== undefined) ctx.set('Retry-After', String(page.retry_after));
  ctx.set('Content-Security-Policy', policy(page.form_target));
  ctx.type = 'text/html; charset=utf-8';
  ctx.body = `<!doctype html>${html}`;
}

/** Nothing from elsewhere, no scripts, no frames around it, and forms lead nowhere but here. */
function policy(form_target: string | undefined): string {
  return [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    // Chromium holds the redirects that follow a form to this, too: the one to the client must be named.
    `form-action 'self'${form_target === undefined ? '' : ` ${form_target}`}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ');
}
