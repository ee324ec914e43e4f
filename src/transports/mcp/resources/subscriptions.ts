import type { Caller } from '../protocol/exchange.ts';
import type { McpParts } from '../parts.ts';
import { RpcError, rpcCodes } from '../protocol/errors.ts';
import { resourceNotFoundError, readResource, type Resources } from './resources.ts';
import type { Sessions } from '../sessions/sessions.ts';

type Subscriber = NonNullable<Caller['session']>;

export interface Subscriptions {
  /**
   * Subscribes the caller's session to a resource (MCP, Resources: Subscriptions).
   * @throws {RpcError} as `readResource`; -32000 without a session or at the maximum number of subscriptions.
   */
  add(caller: Caller, uri: string): Promise<void>;
  /** Ends a subscription. @throws {RpcError} -32000 without a session; -32002 for an unknown resource. */
  remove(caller: Caller, uri: string): Promise<void>;
}

/** Subscriptions by the URI that the client wrote last: notifications repeat it. */
export function createSubscriptions(
  parts: McpParts,
  resources: Resources,
  sessions: Pick<Sessions, 'subscribe' | 'unsubscribe'>,
): Subscriptions {
  /** The URIs under which a session has subscribed to the same resource. */
  function findSpellings({ subscriptions }: Subscriber, uri: string): string[] {
    const found = resources.find(uri);
    if (!found) throw resourceNotFoundError(uri);
    return subscriptions.filter((other) => resources.find(other)?.uri === found.uri);
  }
  return {
    async add(caller, uri) {
      const session = requireSession(caller, 'Subscriptions belong');
      // Reading first rejects resources that the caller may not see, with the same error as unknown ones.
      await readResource(parts, caller, resources, uri);
      await sessions.subscribe(session.key, uri, findSpellings(session, uri));
    },
    async remove(caller, uri) {
      const session = requireSession(caller, 'Subscriptions belong');
      await sessions.unsubscribe(session.key, findSpellings(session, uri));
    },
  };
}

/** The session of a caller. `subjectAndVerb` starts the error message. @throws {RpcError} -32000 without a session. */
export function requireSession({ session }: Caller, subjectAndVerb: string): Subscriber {
  if (session) return session;
  throw new RpcError(
    rpcCodes.serverError,
    `${subjectAndVerb} to a session: call initialize and send Mcp-Session-Id.`,
  );
}
