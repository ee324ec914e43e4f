import type { ErrorOut, KoaContextWithOIDC } from 'oidc-provider';
import { SessionNotFound } from 'oidc-provider/lib/helpers/errors.js';
import type { Context } from 'koa';
import { DomainError } from '../domain/errors.ts';
import { errorHeaders } from '../http/errors.ts';

/** Writes a page for a person whose way ends here; the status is set. */
export type ErrorPage = (ctx: Context, page: { title: string; message: string; request_id: string }) => void;

/** Where a browser is, and so a person. */
const visited = new Set(['authorization', 'resume']);

/** Answers in the form of OAuth (RFC 6749, section 5.2) what our side refuses or cannot do just now. */
export function answerRefusal(ctx: Context, error: DomainError): void {
  ctx.status = error.status;
  ctx.set(errorHeaders(error));
  ctx.body = { error: 'temporarily_unavailable', error_description: error.message };
}

/** As answerRefusal, for a browser: a page for people, JSON for programs. */
export function showRefusal(ctx: Context, error: DomainError, errorPage: ErrorPage): void {
  answerRefusal(ctx, error);
  if (ctx.accepts('html', 'json') !== 'html') return;
  const request_id = String(ctx.state['request_id']);
  errorPage(ctx, { title: notNow, message: error.message, request_id });
}

const notNow = 'Not just now';

/** Renders what cannot be told to the client by a redirect: a page of ours for a person, JSON for a program. */
export function errorRenderer(errorPage: ErrorPage) {
  return (ctx: KoaContextWithOIDC, out: ErrorOut, error: Error): void => {
    if (visited.has(ctx.oidc.route) && ctx.accepts('html', 'json') === 'html') {
      const request_id = String(ctx.state['request_id']);
      errorPage(ctx, { ...wordsFor(out, error), request_id });
    } else if (!(error instanceof DomainError)) {
      ctx.body = out;
    }
  };
}

const again = 'Go back to the program that sent you here, and connect from there again.';

function wordsFor(out: ErrorOut, error: Error): { title: string; message: string } {
  if (error instanceof DomainError) return { title: notNow, message: error.message };
  if (error instanceof SessionNotFound) {
    const over = 'It has expired, was decided before, or was begun in another browser.';
    return { title: 'This request is over', message: `${over} ${again}` };
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
      message: `We do not know the program that sent you here. ${again}`,
    };
  }
  const reason = out.error_description ?? out.error;
  return {
    title: 'This request is not right',
    message: `The program that sent you here asked for something that is not possible: ${reason}.`,
  };
}
