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
  /** Where the way goes on, if the person wants it to. */
  link?: { href: string; text: string };
}

/** Writes a page for a person whose way ends here; the status is set. */
export type ErrorPage = (ctx: Context, page: ErrorPageContent) => void;

/** Where a browser is, and so a person. */
const browserRoutes = new Set(['authorization', 'resume']);

/** Answers in the form of OAuth (RFC 6749, section 5.2) what our side refuses or cannot do just now. */
export function answerDomainError(ctx: Context, error: DomainError): void {
  ctx.status = error.status;
  ctx.set(errorHeaders(error));
  ctx.body = { error: 'temporarily_unavailable', error_description: error.message };
}

/** What our side refused or could not do, also where the provider has made an error of its own of it. */
function findDomainError(error: Error): DomainError | undefined {
  return [error, error.cause].find((each) => each instanceof DomainError);
}

/** Answers in our words what our side refused; says whether it did. */
export function answerIfDomainError(ctx: Context, error: Error): boolean {
  const refusal = findDomainError(error);
  if (refusal) answerDomainError(ctx, refusal);
  return refusal !== undefined;
}

/** As answerRefusal, for a browser: a page for people, JSON for programs. */
export function showDomainError(ctx: Context, error: DomainError, errorPage: ErrorPage): void {
  answerDomainError(ctx, error);
  if (ctx.accepts('html', 'json') !== 'html') return;
  const request_id = String(ctx.state['request_id']);
  errorPage(ctx, { title: 'Not just now', message: error.message, request_id });
}

/** Renders what cannot be told to the client by a redirect: a page of ours for a person, JSON for a program. */
export function createErrorRenderer(errorPage: ErrorPage) {
  return (ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void => {
    const refusal = findDomainError(error);
    const person = browserRoutes.has(ctx.oidc.route);
    if (refusal && person) showDomainError(ctx, refusal, errorPage);
    else if (refusal) answerDomainError(ctx, refusal);
    else if (person && ctx.accepts('html', 'json') === 'html') {
      const request_id = String(ctx.state['request_id']);
      errorPage(ctx, { ...errorPageText(out, error), request_id });
    } else {
      ctx.body = out;
    }
  };
}

/**
 * What is wrong with a request is told to the client by a redirect, before any person has done anything. Clients register themselves, so
 * that would lead from our name to wherever a stranger likes (RFC 9700, section 4.11.2): a browser gets a page with that way as a
 * link. Programs get the redirect.
 */
export function confirmRedirect(ctx: Context, errorPage: ErrorPage): void {
  const href = ctx.response.get('Location');
  if (!href || href.startsWith(requestsPath) || !ctx.get('Accept').includes('text/html')) return;
  const told = new URLSearchParams(href.split(/[?#]/).at(-1));
  const error = told.get('error') ?? 'invalid_request';
  const error_description = told.get('error_description') ?? undefined;
  const link = { href, text: `Back to ${describeRedirect(href).host}` };
  ctx.remove('Location');
  ctx.status = 400;
  errorPage(ctx, {
    ...errorPageText({ error, error_description }),
    request_id: String(ctx.state['request_id']),
    link,
  });
}

const reconnectHint = 'Go back to the program that sent you here, and connect from there again.';

function errorPageText(out: ErrorOut, error?: Error): { title: string; message: string } {
  if (error instanceof SessionNotFound) {
    const over = 'It has expired, was decided before, or was begun in another browser.';
    return { title: 'This request is over', message: `${over} ${reconnectHint}` };
  }
  if (out.error === 'server_error') {
    const found = 'Something went wrong on our side; the request id helps to find it.';
    return { title: 'This did not work', message: found };
  }
  if (out.error === 'invalid_redirect_uri') {
    const refused =
      'The program that sent you here wants the answer at an address that it has not registered. Nothing was sent there.';
    return { title: 'This request is refused', message: refused };
  }
  if (out.error === 'invalid_client') {
    return {
      title: 'This program is not known',
      message: `We do not know the program that sent you here. ${reconnectHint}`,
    };
  }
  const reason = out.error_description ?? out.error;
  return {
    title: 'This request is not right',
    message: `The program that sent you here asked for something that is not possible: ${reason}.`,
  };
}
