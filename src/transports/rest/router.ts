import { Router, type RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { z } from 'zod';
import { DomainError } from '../../domain/errors.ts';
import { actorOf } from '../http/authenticate.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import { drainRefusedBody } from '../http/drain-body.ts';
import { jsonBody } from '../http/json-body.ts';
import type { Operation, RestBinding } from '../../operations/define.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import { type FieldSchema, joinInput, readQuery } from './read-input.ts';
import { longPathPrefix, pathsOf } from './paths.ts';
import type { Route } from './route.ts';
import { uploadInput } from './upload.ts';

export interface RestParts {
  execute: Execute;
  catalogue: readonly Operation[];
  authenticate: Middleware;
  /** Where /v1 is, as callers see it. */
  base_url: string;
  /** How long an upload may bring no byte, in milliseconds. */
  upload_idle_ms: number;
  /** Routes that are no operations. */
  routes: readonly Route[];
}

/** Faces for everything under /v1: a loop over the catalogue. Nothing about a single operation stands here. */
export function createRestTransport(parts: RestParts): Middleware[] {
  const router = new Router({ prefix: '/v1', sensitive: true });
  const routes = parts.catalogue.flatMap((operation) => {
    const { rest } = operation;
    return rest ? pathsOf(rest).map((path) => ({ path, rest, operation })) : [];
  });
  for (const { path, rest, operation } of routes.sort(
    (a, b) => countParameters(a.path) - countParameters(b.path),
  )) {
    router.register(
      koaPath(path),
      [rest.method],
      [
        ...stagesOf(rest, parts.authenticate),
        endpoint(parts, operation, rest, path.startsWith(longPathPrefix)),
      ],
    );
  }
  for (const { method, path, stages, description } of parts.routes) {
    const guard = description.anonymous ? [] : [parts.authenticate];
    router.register(koaPath(path), [method], [...guard, ...stages]);
  }
  return [router.routes() as Middleware, refuseMethods(router)];
}

function stagesOf(rest: RestBinding, authenticated: Middleware): Middleware[] {
  if (rest.upload !== undefined) return [drainRefusedBody, authenticated];
  return rest.method === 'GET' ? [authenticated] : [authenticated, jsonBody];
}

const koaPath = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ':$1');

/** A known path with a method that it does not have: 405, with those that it has in Allow (RFC 9110, section 15.5.6). */
function refuseMethods(router: Router): Middleware {
  const allowed = router.allowedMethods();
  return async function methods(ctx, next) {
    await allowed(ctx as RouterContext, next);
    if (ctx.status !== 405 && ctx.status !== 501) return;
    const known = ctx.response.get('Allow');
    if (known) throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} takes ${known}.`);
    // The router calls methods unknown to it unimplemented wherever they are sent, to paths that do not exist too.
    ctx.remove('Allow');
    ctx.status = 404;
  };
}

/** Fixed segments win over parameters: /agents/me before /agents/{agent_ref}. */
function countParameters(path: string): number {
  return path.split('{').length;
}

function endpoint(parts: RestParts, operation: Operation, rest: RestBinding, long: boolean): Middleware {
  const { properties = {} } = z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' });
  const fields = properties as Record<string, FieldSchema>;

  return async function operationEndpoint(ctx) {
    const actor = actorOf(ctx);
    const named = ctx['params'] as Record<string, string>;
    const params = long ? actingParams(named, actor.handle) : named;
    const input = joinInput(params, readInput(ctx, rest, fields, parts.upload_idle_ms));
    const answer = await parts.execute({
      operation,
      actor,
      input,
      idempotency_key: idempotencyKey(ctx, rest),
      onRateLimit: createRateLimitReporter(ctx),
    });

    if (answer.replayed) ctx.set('Idempotency-Replayed', 'true');
    ctx.status = rest.status;
    if (rest.status === 204) return;
    if (rest.redirect) {
      ctx.set('Location', rest.redirect(answer.output));
      ctx.body = '';
      return;
    }
    if (rest.location) ctx.set('Location', `${parts.base_url}${rest.location(answer.output)}`);
    if ('next_cursor' in answer.output && typeof answer.output.next_cursor === 'string') {
      ctx.set('Link', nextLink(ctx, answer.output.next_cursor));
    }
    ctx.type = 'application/json';
    ctx.body = answer.body;
  };
}

function readInput(
  ctx: Context,
  rest: RestBinding,
  fields: Record<string, FieldSchema>,
  upload_idle_ms: number,
): unknown {
  if (rest.upload !== undefined) return uploadInput(ctx, rest.upload, upload_idle_ms);
  return rest.method === 'GET' ? readQuery(ctx.query, fields) : ctx.request.body;
}

/**
 * The parameters of a long path without the two that name the acting agent.
 * @throws {DomainError} FORBIDDEN when they name another one.
 */
function actingParams(named: Record<string, string>, handle: string): Record<string, string> {
  const { owner, agent_name, ...params } = named;
  if (`${owner}.${agent_name}`.toLowerCase().replace(/^@/, '') === handle) return params;
  throw new DomainError('FORBIDDEN', `This token acts as ${handle}; the path names another agent.`);
}

function idempotencyKey(ctx: Context, rest: RestBinding): string | undefined {
  if (!rest.idempotency) return undefined;
  const key = ctx.headers['idempotency-key'];
  if (typeof key === 'string' && key !== '') return key;
  if (rest.idempotency === 'accepted' && key === undefined) return undefined;
  throw new DomainError(
    'IDEMPOTENCY_KEY_REQUIRED',
    'This request needs the header Idempotency-Key; a UUID will do.',
  );
}

/** RFC 8288: the same request with the cursor of the next page. */
function nextLink(ctx: Context, cursor: string): string {
  const query = new URLSearchParams(ctx.querystring);
  query.set('cursor', cursor);
  return `<${ctx.path}?${query.toString()}>; rel="next"`;
}
