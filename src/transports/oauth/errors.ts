import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Context } from 'koa';
import { DomainError } from '../../domain/errors.ts';
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
    if (domainError && isBrowserRoute) showDomainError(ctx, domainError, errorPage);
    else if (domainError) answerDomainError(ctx, domainError);
    else if (isBrowserRoute && ctx.accepts('html', 'json') === 'html') {
      const request_id = String(ctx.state['request_id']);
      errorPage(ctx, { ...errorPageText(out, error), request_id });
    } else {
      ctx.body = out;
    }
  };
}

/**
 * Replaces an error redirect by a page with a link, for browsers. Clients register themselves, so the redirect before any decision
 * of the person would be an open redirect (RFC 9700, section 4.11.2). Programs get the redirect.
 */
export function confirmRedirect(ctx: Context, errorPage: ErrorPage): void {
  const href = ctx.response.get('Location');
  if (!href || href.startsWith(requestsPath) || !ctx.get('Accept').includes('text/html')) return;
  const params = new URLSearchParams(href.split(/[?#]/).at(-1));
  const error = params.get('error') ?? 'invalid_request';
  const error_description = params.get('error_description') ?? undefined;
  const link = { href, text: `Return to ${describeRedirect(href).host}` };
  ctx.remove('Location');
  ctx.status = 400;
  errorPage(ctx, {
    ...errorPageText({ error, error_description }),
    request_id: String(ctx.state['request_id']),
    link,
  });
}

const reconnectHint = 'Return to the app and connect again.';

function errorPageText(out: ErrorOut, error?: Error): { title: string; message: string } {
  if (error instanceof SessionNotFound) {
    const reason = 'It has expired, was already answered, or was started in another browser.';
    return { title: 'This request is no longer valid', message: `${reason} ${reconnectHint}` };
  }
  if (out.error === 'server_error') {
    const message = 'An internal error occurred. Include the request id when you report it.';
    return { title: 'Something went wrong', message };
  }
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
