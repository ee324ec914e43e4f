import type { Context } from 'koa';
import { z } from 'zod';
import { wrongField } from '../../../packages/core/src/domain/errors.ts';
import type { Edition } from './editions.ts';
import { A2aRefusal, type ErrorState, refuseVerb } from './errors.ts';
import type { Method } from './methods.ts';

const request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(255), z.int()]).nullable(),
  method: z.string(),
  params: z.unknown().optional(),
});

const withId = request.pick({ id: true });

const namedParams = z.record(z.string(), z.unknown());

/** Returns the ID of a JSON-RPC request, which every error repeats; null without one. */
export function readRpcId(ctx: Context): ErrorState['id'] {
  return withId.safeParse(ctx.request.body).data?.id ?? null;
}

/**
 * Reads a JSON-RPC request (JSON-RPC 2.0, section 4). Notifications are invalid, because every method has a result. A2A has no batches.
 * @throws {A2aRefusal} INVALID_REQUEST, METHOD_NOT_FOUND
 * @throws {DomainError} METHOD_NOT_ALLOWED, VALIDATION_ERROR
 */
export function readRpcRequest(ctx: Context, methods: readonly Method[], edition: Edition) {
  const body: unknown = ctx.request.body;
  if (ctx.method !== 'POST') {
    const message = 'Send a JSON-RPC request with POST. The card is at .well-known/agent-card.json.';
    refuseVerb(ctx, ['POST'], message);
  }
  if (Array.isArray(body)) {
    throw new A2aRefusal('INVALID_REQUEST', 'A2A has no batches. Send one JSON-RPC request, as an object.');
  }
  const parsed = request.safeParse(body);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join('.') || 'body');
    throw new A2aRefusal(
      'INVALID_REQUEST',
      `Not a JSON-RPC 2.0 request. Missing or invalid: ${[...new Set(fields)].join(', ')}.`,
    );
  }
  const { id, method: name } = parsed.data;
  const params = namedParams.safeParse(parsed.data.params ?? {});
  const method = methods.find((each) => each.name === edition.toMethod(name));
  if (!method) {
    throw new A2aRefusal('METHOD_NOT_FOUND', `A2A ${edition.version} has no method ${name.slice(0, 80)}.`);
  }
  if (!params.success) throw wrongField('params', 'must be an object with the fields of the request');
  return { method, params: edition.toParams(method.name, params.data), id };
}
