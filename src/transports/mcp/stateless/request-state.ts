import { createHash } from 'node:crypto';
import type { JSONRPCRequest } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { SealedBox } from '../../../shared/encryption.ts';

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
export function createRequestStates(
  sealedBox: SealedBox,
  agent_id: string,
  { method, params }: Pick<JSONRPCRequest, 'method' | 'params'>,
): RequestStates {
  const { name, uri, arguments: args } = params ?? {};
  const input = createHash('sha256')
    .update(toCanonicalJson([name, uri, args]))
    .digest('base64url');
  const about = JSON.stringify(['mcp request state', agent_id, method, input]);
  return {
    seal(state) {
      const text = JSON.stringify({ ...state, expires_at: Date.now() + lifetimeMs });
      return sealedBox.seal(text, about).toString('base64url');
    },
    open(text) {
      const sealed = Buffer.from(text, 'base64url');
      if (sealed.toString('base64url') !== text) throw new Error('the request state was altered');
      const { expires_at, ...state } = schema.parse(JSON.parse(sealedBox.open(sealed, about)));
      if (expires_at <= Date.now()) throw new Error('the request state has expired');
      return state;
    },
  };
}

/** JSON with sorted keys: a client may repeat the fields of an object in another order. */
function toCanonicalJson(value: unknown): string {
  return JSON.stringify(value ?? null, (_key, child: unknown) =>
    typeof child === 'object' && child !== null && !Array.isArray(child)
      ? Object.fromEntries(Object.entries(child).sort(([a], [b]) => (a < b ? -1 : 1)))
      : child,
  );
}
