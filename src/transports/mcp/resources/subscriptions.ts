import type { Actor } from '../../../domain/auth/actor.ts';
import type { Caller } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import { McpHttpError, RpcError, rpcCodes } from '../protocol/errors.ts';
import { resourceNotFoundError, readResource, type Resources } from './resources.ts';
import type { Sessions } from '../sessions/sessions.ts';

export interface Subscriptions {
  /**
   * Subscribes the caller's session to a resource (MCP, Resources: Subscriptions).
   * @throws {RpcError} as `readResource`; -32000 without a session or at the maximum number of subscriptions.
   */
  add(caller: Caller, uri: string): Promise<void>;
  /** Ends a subscription. @throws {RpcError} -32000 without a session; -32002 for an unknown resource. */
  remove(caller: Caller, uri: string): Promise<void>;
}

/** Subscriptions by normalized URI. */
export function createSubscriptions(
  parts: McpParts,
  resources: Resources,
  sessions: Pick<Sessions, 'subscribe' | 'unsubscribe'>,
): Subscriptions {
  function normalizeUri(uri: string): string {
    const found = resources.find(uri);
    if (!found) throw resourceNotFoundError(uri);
    return found.uri;
  }
  return {
    async add(caller, uri) {
      const key = requireSession(caller, 'Subscriptions belong');
      // Reading first rejects resources that the caller may not see, with the same error as unknown ones.
      await readResource(parts, caller, resources, uri);
      await sessions.subscribe(key, normalizeUri(uri));
    },
    async remove(caller, uri) {
      await sessions.unsubscribe(requireSession(caller, 'Subscriptions belong'), normalizeUri(uri));
    },
  };
}

/** The session key of a caller. `subjectAndVerb` starts the error message. @throws {RpcError} -32000 without a session. */
export function requireSession({ session }: Caller, subjectAndVerb: string): string {
  if (session) return session.key;
  throw new RpcError(
    rpcCodes.serverError,
    `${subjectAndVerb} to a session: call initialize and send Mcp-Session-Id.`,
  );
}

/** The subscriptions of a session; none for a stream without a session, undefined if the session has ended. */
export async function listSubscriptions(
  sessions: Pick<Sessions, 'check'>,
  session_id: string | undefined,
  actor: Actor,
): Promise<readonly string[] | undefined> {
  if (session_id === undefined) return [];
  try {
    return (await sessions.check(session_id, actor)).subscriptions;
  } catch (error) {
    if (error instanceof McpHttpError) return undefined;
    throw error;
  }
}
