import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { InvalidGrant, SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Context } from 'koa';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { errorHeaders } from '../http/errors.ts';
import { requestsPath } from './policy.ts';
import { describeRedirect } from './clients/redirect-addresses.ts';

interface ErrorPageContent {
  title: string;
  message: string;
  request_id: string;
  /** An optional next step. */
  link?: { href: string; text: string };
}

/** Shows an error page. The status must be set. */
export type ErrorPage = (ctx: Context, page: ErrorPageContent) => void;

/** Routes that browsers use. */
const browserRoutes = new Set(['authorization', 'resume']);

/** Answers a rate limit or outage as an OAuth error (RFC 6749, section 5.2). */
export function answerDomainError(ctx: Context, error: DomainError): void {
  ctx.status = error.status;
  ctx.set(errorHeaders(error));
  ctx.body = { error: 'temporarily_unavailable', error_description: error.message };
}

/** The domain error in an error or its cause; the provider wraps some of them. */
function findDomainError(error: Error): DomainError | undefined {
  return [error, error.cause].find((item) => item instanceof DomainError);
}

/** Answers a domain error. Returns false for other errors. */
export function answerIfDomainError(ctx: Context, error: Error): boolean {
  const domainError = findDomainError(error);
  if (domainError) answerDomainError(ctx, domainError);
  return domainError !== undefined;
}

/** Answers a refused request for a token. The library does not say what is wrong, nor what the app can do. */
export function answerGrantError(ctx: Context, error: Error): void {
  if (answerIfDomainError(ctx, error) || !(error instanceof InvalidGrant)) return;
  const error_description =
    'The code or refresh token is unknown, expired, revoked or used, or it was requested with another client_id, redirect_uri or code_verifier. Sign in again.';
  ctx.body = { error: 'invalid_grant', error_description };
}

/** As `answerDomainError`, but with a page for browsers. */
export function showDomainError(ctx: Context, error: DomainError, errorPage: ErrorPage): void {
  answerDomainError(ctx, error);
  if (ctx.accepts('html', 'json') !== 'html') return;
  const request_id = String(ctx.state['request_id']);
  errorPage(ctx, { title: 'Temporarily unavailable', message: error.message, request_id });
}

/** Renders errors that cannot be sent to the client by a redirect: a page for browsers, JSON for programs. */
export function createErrorRenderer(errorPage: ErrorPage) {
  return (ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void => {
    const domainError = findDomainError(error);
    const isBrowserRoute = browserRoutes.has(ctx.oidc.route);
    if (error instanceof SessionNotFound && ctx.oidc.route === 'resume') showOutcome(ctx, out);
    else if (domainError && isBrowserRoute) showDomainError(ctx, domainError, errorPage);
    else if (domainError) answerDomainError(ctx, domainError);
    else if (isBrowserRoute && ctx.accepts('html', 'json') === 'html') {
      const request_id = String(ctx.state['request_id']);
      errorPage(ctx, { ...errorPageText(out), request_id });
    } else {
      ctx.body = out;
    }
  };
}

/**
 * Replaces an error redirect to an app scheme that the service does not know by a page with a link, for browsers: the person has not
 * allowed the scheme. Programs get the redirect.
 */
export function confirmRedirect(ctx: Context, errorPage: ErrorPage): void {
  const href = ctx.response.get('Location');
  if (!URL.canParse(href) || !ctx.get('Accept').includes('text/html')) return;
  const { host, unknown_scheme } = describeRedirect(href);
  const params = new URLSearchParams(href.split(/[?#]/).at(-1));
  const error = params.get('error');
  if (!unknown_scheme || error === null) return;
  const error_description = params.get('error_description') ?? undefined;
  const link = { href, text: `Return to ${host}` };
  ctx.remove('Location');
  ctx.status = 400;
  errorPage(ctx, {
    ...errorPageText({ error, error_description }),
    request_id: String(ctx.state['request_id']),
    link,
  });
}

/** Leads a browser whose request was answered before to the page that shows the outcome. */
function showOutcome(ctx: Context, out: ErrorOut): void {
  ctx.body = out;
  if (ctx.accepts('html', 'json') !== 'html') return;
  ctx.redirect(ctx.path.replace('/authorize', requestsPath));
  ctx.status = 303;
}

const reconnectHint = 'Return to the app and connect again.';

function errorPageText(out: ErrorOut): { title: string; message: string } {
  if (out.error === 'server_error') {
    const message = 'An internal error occurred. Include the request id when you report it.';
    return { title: 'Something went wrong', message };
  }
  if (out.error === 'access_denied')
    return { title: 'Access denied', message: 'You did not give the app access. You can return to it.' };
  if (out.error === 'invalid_redirect_uri') {
    const message =
      'The app asked to redirect to an address that it has not registered. You were not redirected.';
    return { title: 'This request was rejected', message };
  }
  if (out.error === 'invalid_client') {
    return {
      title: 'Unknown app',
      message: `The app that sent you here is not registered. ${reconnectHint}`,
    };
  }
  const reason = out.error_description ?? out.error;
  return {
    title: 'Invalid request',
    message: `The request of the app is invalid: ${reason.replace(/\.$/, '')}.`,
  };
}
