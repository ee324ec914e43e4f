import type { Context, Middleware } from 'koa';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { parseInput } from '../../../packages/core/src/inputs/parse-input.ts';
import { fromProtoJson } from '../../presenters/a2a/request.ts';
import { requireScope } from '../../operations/execute/authorize-scope.ts';
import { createRefusalLimit } from '../../operations/refusal-limit.ts';
import { actorOf } from '../http/authenticate.ts';
import { agentNotFound } from '../../services/access.ts';
import { createJsonBody } from '../http/json-body.ts';
import { createRateLimitReporter } from '../http/rate-limit-headers.ts';
import type { CardParts } from './card.ts';
import { type CallParts, createCallContext } from './context.ts';
import { createWaitingCalls } from './waiting-calls.ts';
import { currentEdition, type Edition, legacyEdition } from './editions.ts';
import { type A2aReason, A2aRefusal, type ErrorState, toA2aRefusal } from './errors.ts';
import { findRoute, readFields } from './http-json.ts';
import { readRpcId, readRpcRequest } from './json-rpc.ts';
import { type Method, methods } from './methods.ts';
import { confirmMailbox, hasMailbox, requireVersion } from './service-parameters.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';

export interface InterfaceParts extends CallParts, Pick<CardParts, 'registerMissing'> {
  /** Requires a token of `/v1`. */
  authenticate: Middleware;
  /** Turns errors into responses in the form of the binding. */
  answerErrors: Middleware;
  /** Throws FORBIDDEN for an agent of another installation that no person has confirmed. */
  requireConfirmed(actor: Actor): Promise<void>;
}

/** The body of a message has at most 4 MiB of files in base64. */
const readBody = createJsonBody({ maxBytes: 6 * 1024 * 1024 });

/** A call of one method. */
interface Invocation {
  method: Method;
  params: unknown;
  id: ErrorState['id'];
}

/**
 * The two interfaces of each agent, JSON-RPC and HTTP+JSON, at the same address (A2A 1.0, sections 9 and 11). A call is checked in this order:
 * token, body, version, method, scope, input, agent.
 */
export function createInterfaces(parts: InterfaceParts): Middleware {
  const waiting = createWaitingCalls();
  const withRefusalLimit = createRefusalLimit(parts.limits);

  /** Runs a call. If the service registers its agent at the first request, the call is then repeated. */
  async function withMissingAgent(handle: string, run: () => Promise<void>): Promise<void> {
    try {
      await run();
    } catch (error) {
      if (!(error instanceof DomainError)) throw error;
      if (error.code === 'INVALID_HANDLE') throw agentNotFound();
      if (error.code !== 'AGENT_NOT_FOUND' || !(await parts.registerMissing(handle))) throw error;
      await run();
    }
  }

  async function invoke(
    ctx: Context,
    { method, params, id }: Invocation,
    { handle, edition, onCounted }: { handle: string; edition: Edition; onCounted(): void },
  ): Promise<void> {
    const actor = actorOf(ctx);
    const { binding } = ctx.state['a2a'] as ErrorState;
    const toBody = (result: unknown) => (binding === 'JSONRPC' ? { jsonrpc: '2.0', id, result } : result);
    requireScope(method.operation, actor);
    const isMailbox = hasMailbox(ctx);
    if (isMailbox) confirmMailbox(ctx, edition);
    const request = {
      ctx,
      actor,
      agent: handle,
      hasMailbox: isMailbox,
      version: edition.version,
      onRateLimit: createRateLimitReporter(ctx),
      toFrame: (event: object, isLast: boolean) => JSON.stringify(toBody(edition.toEvent(event, isLast))),
    };
    const context = createCallContext(parts, waiting, request, onCounted);
    const result = await method.run(context, parseInput(method.request, fromProtoJson(params)));
    if (result === null) return;
    ctx.type = binding === 'JSONRPC' ? 'application/json' : 'application/a2a+json';
    ctx.body = JSON.stringify(toBody(edition.toResult(method.name, result)));
  }

  async function serve(ctx: Context, { handle, path, edition }: Address): Promise<void> {
    const isRpc = path === '' || path === '/';
    const { toText } = edition;
    const state: ErrorState = { binding: isRpc ? 'JSONRPC' : 'HTTP+JSON', id: null, toText };
    ctx.state['a2a'] = state;
    let ended: A2aReason = 'UNSUPPORTED_OPERATION';
    try {
      await parts.authenticate(ctx, async () => {
        await parts.requireConfirmed(actorOf(ctx));
        let isCounted = false;
        const onCounted = () => (isCounted = true);
        const serveBody = () =>
          readBody(ctx, async () => {
            if (isRpc) state.id = readRpcId(ctx);
            requireVersion(ctx, edition);
            const invocation = isRpc
              ? readRpcRequest(ctx, methods, edition)
              : readHttpRequest(ctx, path, edition);
            ({ ended = ended } = invocation.method);
            await withMissingAgent(handle, () => invoke(ctx, invocation, { handle, edition, onCounted }));
          });
        const { agent_id: caller } = actorOf(ctx);
        return withRefusalLimit(caller, createRateLimitReporter(ctx), serveBody, () => isCounted);
      });
    } catch (error) {
      throw toA2aRefusal(error, ended);
    }
  }

  return (ctx, next) => {
    const address = readAddress(ctx.path);
    if (!address) return next();
    return parts.answerErrors(ctx, () => serve(ctx, address));
  };
}

/** The address of a call. */
export interface Address {
  handle: string;
  /** The path after the address of the agent. */
  path: string;
  edition: Edition;
}

const current = /^\/a2a\/(?<owner>[^/]+)\/(?<agent_name>[^/]+)(?<path>\/.*)?$/;
/** No owner has this name. */
const legacy = /^\/a2a\/v0\.3\/(?<owner>[^/]+)\/(?<agent_name>[^/]+)(?<path>\/.*)?$/;

/** Reads the address of an agent, or one below it. Undefined for other addresses. */
export function readAddress(url: string): Address | undefined {
  const isLegacy = url.startsWith('/a2a/v0.3/');
  const { owner, agent_name, path = '' } = (isLegacy ? legacy : current).exec(url)?.groups ?? {};
  if (owner === undefined || owner === '-') return undefined;
  return { handle: `${owner}.${agent_name}`, path, edition: isLegacy ? legacyEdition : currentEdition };
}

function readHttpRequest(ctx: Context, path: string, { version }: Edition): Invocation {
  if (version === '0.3')
    throw new A2aRefusal('METHOD_NOT_FOUND', 'No such path. A2A 0.3 is served over JSON-RPC only.');
  const found = findRoute(ctx, path, methods);
  return { method: found.method, params: readFields(ctx, found), id: null };
}
