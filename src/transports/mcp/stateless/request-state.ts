import { toCanonicalJson } from '../../../../packages/core/src/domain/canonical-json.ts';
import { createHash } from 'node:crypto';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { SealedBox } from '../../../shared/encryption.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import type { Caller } from '../protocol/exchange.ts';
import { readField } from '../protocol/required-scopes.ts';

const schema = z.object({
  /** Keys of the questions of the last round. */
  asked: z.array(z.string()),
  /** Responses of earlier rounds, by key. */
  answered: z.record(z.string(), z.record(z.string(), z.unknown())),
  expires_at: z.int(),
});

/** What a call that asks the client has to know when the client repeats it. */
export type RequestState = Omit<z.infer<typeof schema>, 'expires_at'>;

export interface RequestStates {
  seal(state: RequestState): string;
  /** @throws when the state was altered, has expired, or is of another agent, operation or input. */
  open(text: string): RequestState;
}

/** As long as an approval may stay pending, in ms. */
const lifetimeMs = 24 * 60 * 60 * 1_000;

/**
 * `requestState` of one request (MCP, Multi Round-Trip Requests). It is encrypted and bound to the agent, the method and the input, so no
 * process has to keep it and no other call can use it.
 */
function createRequestStates(
  sealedBox: SealedBox,
  agent_id: string,
  { method, params }: Pick<JSONRPCRequest, 'method' | 'params'>,
): RequestStates {
  const { name, uri, arguments: args } = params ?? {};
  const about = () => {
    // A client may repeat the fields of an object in another order.
    const input = createHash('sha256').update(toCanonicalJson([name, uri, args]));
    return JSON.stringify(['mcp request state', agent_id, method, input.digest('base64url')]);
  };
  return {
    seal(state) {
      const text = JSON.stringify({ ...state, expires_at: Date.now() + lifetimeMs });
      return sealedBox.seal(text, about()).toString('base64url');
    },
    open(text) {
      const sealed = Buffer.from(text, 'base64url');
      if (sealed.toString('base64url') !== text) throw new Error('the request state was altered');
      const { expires_at, ...state } = schema.parse(JSON.parse(sealedBox.open(sealed, about())));
      if (expires_at <= Date.now()) throw new Error('the request state has expired');
      return state;
    },
  };
}

/**
 * The state that a call returns, and what seals the next one.
 * @throws {RpcError} -32602 for a state that this call did not get.
 */
export function openRequestState(
  { sealedBox, logger }: Pick<McpParts, 'sealedBox' | 'logger'>,
  { actor, request_id }: Caller,
  message: Pick<JSONRPCRequest, 'method' | 'params'>,
): { states: RequestStates; state: RequestState | undefined } {
  const states = createRequestStates(sealedBox, actor.agent_id, message);
  const text = readField(message.params, 'requestState');
  if (text === undefined) return { states, state: undefined };
  try {
    return { states, state: states.open(typeof text === 'string' ? text : '') };
  } catch (error) {
    logger.debug({ err: error, request_id }, 'a request state was rejected');
    const data = { reason: 'invalid_request_state' };
    throw new RpcError(rpcCodes.invalidParams, 'Invalid or expired requestState: call again without it', {
      data,
    });
  }
}
