import { createHash, randomBytes } from 'node:crypto';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import { mcpSessionLifetimeMs } from '../../../../packages/core/src/domain/limits.ts';
import type { ClientInfo } from './client-info.ts';
import { McpHttpError, RpcError, rpcCodes } from '../protocol/errors.ts';
import type { FeedCursors, StoredPosition } from './places.ts';

export interface Session extends StoredPosition {
  agent_id: string;
  protocol_version: string;
  client: ClientInfo;
  /** URIs of the subscribed resources. */
  subscriptions: readonly string[];
  created_at: number;
  /** Where a notification stream without Last-Event-ID starts; null for tokens that see no events. */
  stream_position: number | null;
  /** The newest notification stream, which alone receives. */
  stream_number: number;
}

interface SessionWithKey extends Session {
  /** Hash of the session id; names the session inside the service. */
  key: string;
}

/** A session as it was when a stream of it began to receive. */
export interface TakenSession extends SessionWithKey {
  id: string;
  stream_cursor: string | undefined;
}

/** Session storage shared by all processes. Ids are stored as hashes. */
export interface SessionStore {
  find(idHash: Buffer): Promise<Session | undefined>;
  insert(
    idHash: Buffer,
    session: Omit<Session, keyof StoredPosition | 'subscriptions' | 'stream_number'>,
  ): Promise<void>;
  touch(idHash: Buffer, now: number): Promise<void>;
  /** Returns false if the session already has `max` other subscriptions. */
  subscribe(idHash: Buffer, uri: string, replaced: readonly string[], max: number): Promise<boolean>;
  unsubscribe(idHash: Buffer, uris: readonly string[]): Promise<void>;
  setLogLevel(idHash: Buffer, level: string): Promise<void>;
  takeStream(idHash: Buffer): Promise<Pick<Session, 'stream_number' | 'stream_position'> | undefined>;
  claimNotifications(
    idHash: Buffer,
    streamNumber: number,
    position: number,
  ): Promise<readonly string[] | undefined>;
  remove(idHash: Buffer): Promise<void>;
}

export interface Sessions {
  /** Starts a session for the actor's agent and returns its id, which is shown only once. */
  begin(
    actor: Actor,
    session: { protocol_version: string; client: ClientInfo; stream_cursor: string | null },
  ): Promise<string>;
  /** @throws {McpHttpError} 404 when it is unknown, has ended, or belongs to another agent: these look alike. */
  check(id: string, actor: Actor): Promise<SessionWithKey>;
  /** Subscribes the session with this key to a resource, in place of its other spellings. @throws {RpcError} when it has the maximum number already. */
  subscribe(key: string, uri: string, replaced: readonly string[]): Promise<void>;
  /** Ends the subscription of a resource, by its spellings. */
  unsubscribe(key: string, uris: readonly string[]): Promise<void>;
  /** Makes a new notification stream the only one of the session that receives. @throws {McpHttpError} as `check`. */
  takeStream(id: string, actor: Actor): Promise<TakenSession>;
  /**
   * Records what a stream is about to send, up to `cursor`. Returns the subscriptions; undefined if a newer stream receives, or if the
   * session has ended: then it must send nothing.
   */
  claimNotifications(session: TakenSession, cursor: string): Promise<readonly string[] | undefined>;
  /** Sets the minimum severity of the log messages that the session receives (MCP, Logging). */
  setLogLevel(key: string, level: LoggingLevel): Promise<void>;
  /** Ends a session. @throws {McpHttpError} as `check`. */
  end(id: string, actor: Actor): Promise<void>;
}

/** The last use of a session is recorded once in this time. */
const touchIntervalMs = 60_000;
const maxSubscriptions = 500;

/**
 * MCP sessions (MCP, Transports: Session Management) over a store that all processes share. Every request reads its session
 * from the store, so a change applies in every process as soon as the response arrives.
 */
export function createSessions(store: SessionStore, cursors: FeedCursors): Sessions {
  async function find(hash: Buffer): Promise<SessionWithKey | undefined> {
    const now = Date.now();
    const found = await store.find(hash);
    if (!found || found.seen_at < now - mcpSessionLifetimeMs) return undefined;
    if (found.seen_at < now - touchIntervalMs) await store.touch(hash, now);
    return { ...found, key: hash.toString('base64url') };
  }

  async function check(id: string, actor: Actor): Promise<SessionWithKey> {
    const session = await find(hashOf(id));
    if (session?.agent_id === actor.agent_id) return session;
    throw sessionNotFound();
  }

  return {
    check,
    async begin({ agent_id }, { stream_cursor, ...session }) {
      const id = randomBytes(24).toString('base64url');
      const created_at = Date.now();
      const stream_position = stream_cursor === null ? null : cursors.decodeFeed(agent_id, stream_cursor);
      await store.insert(hashOf(id), { agent_id, ...session, stream_position, created_at });
      return id;
    },
    async end(id, actor) {
      await check(id, actor);
      await store.remove(hashOf(id));
    },
    async subscribe(key, uri, replaced) {
      if (!(await store.subscribe(Buffer.from(key, 'base64url'), uri, replaced, maxSubscriptions))) {
        const text = `A session can subscribe to at most ${maxSubscriptions} resources.`;
        throw new RpcError(rpcCodes.serverError, text);
      }
    },
    unsubscribe: (key, uris) => store.unsubscribe(Buffer.from(key, 'base64url'), uris),
    async takeStream(id, actor) {
      const session = await check(id, actor);
      const taken = await store.takeStream(hashOf(id));
      if (!taken) throw sessionNotFound();
      const { stream_position: position } = taken;
      const stream_cursor = position === null ? undefined : cursors.encodeFeed(session.agent_id, position);
      return { ...session, ...taken, stream_cursor, id };
    },
    claimNotifications: async ({ key, agent_id, stream_number }, cursor) =>
      store.claimNotifications(
        Buffer.from(key, 'base64url'),
        stream_number,
        cursors.decodeFeed(agent_id, cursor),
      ),
    setLogLevel: (key, level) => store.setLogLevel(Buffer.from(key, 'base64url'), level),
  };
}

function sessionNotFound(): McpHttpError {
  return new McpHttpError(404, rpcCodes.sessionNotFound, 'Session not found: initialize again.');
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
