import type { Actor } from '../../../domain/auth/actor.ts';
import type { Caller } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import { McpHttpError, RpcError, rpcCodes } from '../protocol/errors.ts';
import { resourceNotFoundError, readResource, type Resources } from './resources.ts';
import type { Sessions } from '../sessions/sessions.ts';

export interface Subscriptions {
  /**
   * Has the session of the caller hear when a resource changes (MCP, Resources: Subscriptions).
   * @throws {RpcError} as reading it would; -32000 without a session, and beyond the most that a session may have.
   */
  add(caller: Caller, uri: string): Promise<void>;
  /** @throws {RpcError} -32000 without a session; -32002 for what is no resource. */
  remove(caller: Caller, uri: string): Promise<void>;
}

/** Subscriptions are kept under one spelling of a URI, whatever escapes a client wrote. */
export function createSubscriptions(
  parts: McpParts,
  resources: Resources,
  sessions: Pick<Sessions, 'subscribe' | 'unsubscribe'>,
): Subscriptions {
  function named(uri: string): string {
    const found = resources.find(uri);
    if (!found) throw resourceNotFoundError(uri);
    return found.uri;
  }
  return {
    async add(caller, uri) {
      const key = requireSession(caller, 'Subscriptions belong');
      // Nobody follows what he cannot read; whether it exists is told by the same words.
      await readResource(parts, caller, resources, uri);
      await sessions.subscribe(key, named(uri));
    },
    async remove(caller, uri) {
      await sessions.unsubscribe(requireSession(caller, 'Subscriptions belong'), named(uri));
    },
  };
}

/** The session of a caller, for `what` has one. @throws {RpcError} -32000 without it. */
export function requireSession({ session }: Caller, what: string): string {
  if (session) return session.key;
  throw new RpcError(rpcCodes.serverError, `${what} to a session: initialize, and send Mcp-Session-Id.`);
}

/** What a session is subscribed to now; nothing when it is over, or for a stream without one. */
export async function listSubscriptions(
  sessions: Pick<Sessions, 'check'>,
  session_id: string | undefined,
  actor: Actor,
): Promise<readonly string[]> {
  if (session_id === undefined) return [];
  try {
    return (await sessions.check(session_id, actor)).subscriptions;
  } catch (error) {
    if (error instanceof McpHttpError) return [];
    throw error;
  }
}
