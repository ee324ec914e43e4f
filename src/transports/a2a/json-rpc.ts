import type { Context } from 'koa';
import { z } from 'zod';
import type { Edition } from './editions.ts';
import { A2aRefusal, type ErrorState } from './errors.ts';
import type { Method } from './methods.ts';

const request = z.object({
  jsonrpc: z.literal('2.0'),
  id: z.union([z.string().max(255), z.int()]).nullable(),
  method: z.string(),
  params: z.record(z.string(), z.unknown()).optional(),
});

/**
 * Reads a JSON-RPC request (JSON-RPC 2.0, section 4). Every method answers, so a notification is invalid; A2A has no batches.
 * @param state gets the id, so that errors have it too.
 * @throws {A2aRefusal} INVALID_REQUEST, METHOD_NOT_FOUND
 */
export function readRpcRequest(
  ctx: Context,
  state: ErrorState,
  methods: readonly Method[],
  edition: Edition,
) {
  const body: unknown = ctx.request.body;
  state.id = request.pick({ id: true }).safeParse(body).data?.id ?? null;
  if (ctx.method !== 'POST') {
    throw new A2aRefusal(
      'INVALID_REQUEST',
      'Send a JSON-RPC request with POST; the card is at .well-known/agent-card.json.',
    );
  }
  const parsed = request.safeParse(body);
  if (!parsed.success) {
    const fields = parsed.error.issues.map(({ path }) => path.join('.') || 'body');
    throw new A2aRefusal(
      'INVALID_REQUEST',
      `No JSON-RPC 2.0 request: ${[...new Set(fields)].join(', ')} is missing or wrong.`,
    );
  }
  const { id, method: name, params = {} } = parsed.data;
  const method = methods.find((each) => each.name === edition.toMethod(name));
  if (!method) {
    throw new A2aRefusal(
      'METHOD_NOT_FOUND',
      `A2A ${edition.version} has no method ${name.slice(0, 80)} here.`,
    );
  }
  return { method, params: edition.toParams(method.name, params), id };
}
