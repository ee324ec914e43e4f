import { Router, type RouterContext } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { actorOf } from '../http/authenticate.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { type ReplyMessage, replyOf } from '../../operations/execute/await-reply.ts';
import { whileListening } from '../http/while-listening.ts';
import { drainRefusedBody } from '../http/drain-body.ts';
import { jsonBody } from '../http/json-body.ts';
import type { Operation, RestBinding } from '../../operations/define.ts';
import type { Execute } from '../../operations/execute/execute.ts';
import { createQueryReader, joinInput, type QueryReader, uploadInput } from './read-input.ts';
import { longPathPrefix, pathsOf, type Route } from './route.ts';

export interface RestParts {
  execute: Execute;
  catalogue: readonly Operation[];
  authenticate: Middleware;
  /** Public URL of /v1. */
  base_url: string;
  /** How long an upload may pause, in milliseconds. */
  upload_idle_ms: number;
  /** Endpoints that are not operations. */
  routes: readonly Route[];
  /** Aborted when the process begins to shut down: calls that wait for a reply are then answered at once. */
  draining: AbortSignal;
  /** Called when an answer with a reply was sent. */
  onReplySent(actor: Actor, reply: ReplyMessage): void;
}

/** The REST transport: one endpoint for each operation of the catalogue that has a REST binding, and the routes. */
export function createRestTransport(parts: RestParts): Middleware[] {
  const router = new Router({ prefix: '/v1', sensitive: true });
  const routes = parts.catalogue.flatMap((operation) => {
    const { rest } = operation;
    return rest ? pathsOf(rest).map((path) => ({ path, rest, operation })) : [];
  });
  for (const { path, rest, operation } of routes.sort(
    (a, b) => countParameters(a.path) - countParameters(b.path),
  )) {
    const query = createQueryReader(rest.method, path, operation.input);
    router.register(
      koaPath(path),
      [rest.method],
      [
        ...stagesOf(rest, parts.authenticate, query.check),
        endpoint(parts, operation, rest, query.read, path.startsWith(longPathPrefix)),
      ],
    );
  }
  for (const { method, path, stages, description } of parts.routes) {
    const guard = description.anonymous ? [] : [parts.authenticate];
    const { check } = createQueryReader(method, path, description.input);
    router.register(koaPath(path), [method], [...guard, check, ...stages]);
  }
  return [router.routes() as Middleware, refuseMethods(router)];
}

function stagesOf(rest: RestBinding, authenticate: Middleware, checkQuery: Middleware): Middleware[] {
  if (rest.upload !== undefined) return [drainRefusedBody, authenticate, checkQuery];
  return rest.method === 'GET' ? [authenticate, checkQuery] : [authenticate, checkQuery, jsonBody];
}

/** A colon begins a parameter, unless it is escaped (path-to-regexp). */
const koaPath = (path: string): string => path.replaceAll(':', '\\:').replaceAll(/\{(\w+)\}/g, ':$1');

/** Responds 405 with Allow to an unsupported method of an existing path (RFC 9110, section 15.5.6). */
function refuseMethods(router: Router): Middleware {
  const allowed = router.allowedMethods();
  return async function refuseMethod(ctx, next) {
    await allowed(ctx as RouterContext, next);
    if (ctx.status !== 405 && ctx.status !== 501) return;
    const methods = ctx.response.get('Allow');
    if (methods) throw new DomainError('METHOD_NOT_ALLOWED', `${ctx.path} supports ${methods}.`);
    // The router responds 501 to unknown methods, even for paths that do not exist.
    ctx.remove('Allow');
    ctx.status = 404;
  };
}

/** Paths with fewer parameters are matched first: /agents/me before /agents/{agent_ref}. */
function countParameters(path: string): number {
  return path.split('{').length;
}

function endpoint(
  parts: RestParts,
  operation: Operation,
  rest: RestBinding,
  readQuery: QueryReader['read'],
  isLong: boolean,
): Middleware {
  return async function operationEndpoint(ctx) {
    const actor = actorOf(ctx);
    const pathParams = ctx['params'] as Record<string, string>;
    const params = isLong ? withoutActor(pathParams, actor.handle) : pathParams;
    const input = joinInput(params, readInput(ctx, rest, readQuery, parts.upload_idle_ms));
    const call = {
      operation,
      actor,
      input,
      idempotency_key: idempotencyKey(ctx, rest),
      onRateLimit: createRateLimitReporter(ctx),
    };
    const result =
      operation.reply || operation.itemWait
        ? await whileListening(ctx, parts.draining, (signal) => parts.execute({ ...call, signal }))
        : await parts.execute(call);

    const reply = operation.reply && replyOf(result.output);
    if (reply) ctx.res.once('finish', () => parts.onReplySent(actor, reply));
    if (result.replayed) ctx.set('Idempotency-Replayed', 'true');
    ctx.status = rest.status;
    if (rest.status === 204) return;
    if (rest.redirect) {
      ctx.set('Location', rest.redirect(result.output));
      ctx.body = '';
      return;
    }
    if (rest.location) ctx.set('Location', `${parts.base_url}${rest.location(result.output)}`);
    if ('next_cursor' in result.output && typeof result.output.next_cursor === 'string') {
      ctx.set('Link', nextLink(ctx, result.output.next_cursor));
    }
    ctx.type = 'application/json';
    ctx.body = result.body;
  };
}

function readInput(
  ctx: Context,
  rest: RestBinding,
  readQuery: QueryReader['read'],
  upload_idle_ms: number,
): unknown {
  if (rest.upload !== undefined) return uploadInput(ctx, rest.upload, upload_idle_ms);
  return rest.method === 'GET' ? readQuery(ctx) : ctx.request.body;
}

/**
 * The parameters of a long path without those that name the acting agent.
 * @throws {DomainError} FORBIDDEN when they name another agent.
 */
function withoutActor(pathParams: Record<string, string>, handle: string): Record<string, string> {
  const { owner, agent_name, ...params } = pathParams;
  if (`${owner}.${agent_name}`.toLowerCase().replace(/^@/, '') === handle) return params;
  throw new DomainError('FORBIDDEN', `The path must name the agent that the token acts as: ${handle}.`);
}

function idempotencyKey(ctx: Context, rest: RestBinding): string | undefined {
  if (!rest.idempotency) return undefined;
  const key = ctx.headers['idempotency-key'];
  if (typeof key === 'string' && key !== '') return key;
  if (rest.idempotency === 'accepted' && key === undefined) return undefined;
  throw new DomainError(
    'IDEMPOTENCY_KEY_REQUIRED',
    'The Idempotency-Key header is missing. Send a unique value, such as a UUID.',
  );
}

/** Link header for the next page (RFC 8288). */
function nextLink(ctx: Context, cursor: string): string {
  const query = new URLSearchParams(ctx.querystring);
  query.set('cursor', cursor);
  return `<${ctx.path}?${query.toString()}>; rel="next"`;
}
