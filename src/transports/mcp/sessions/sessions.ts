import { createHash, randomBytes } from 'node:crypto';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import type { Actor } from '../../../domain/auth/actor.ts';
import { mcpSessionLifetimeMs } from '../../../domain/limits.ts';
import type { ClientInfo } from './client-info.ts';
import { McpHttpError, RpcError, rpcCodes } from '../protocol/errors.ts';

export interface Session {
  agent_id: string;
  protocol_version: string;
  client: ClientInfo;
  /** URIs of the subscribed resources. */
  subscriptions: readonly string[];
  created_at: number;
  seen_at: number;
  /** Where a notification stream without Last-Event-ID starts; null for tokens that see no events. */
  stream_cursor: string | null;
}

export interface SessionWithKey extends Session {
  /** Hash of the session id; names the session inside the service. */
  key: string;
}

/** What a session has received of its agent's feed. */
export interface SessionPosition {
  /** The session has received everything up to here. Undefined before its first wait. */
  cursor: string | undefined;
  /** Ids of messages, and of other events, that it received after that position: replies, and events of filtered waits. */
  returned: readonly string[];
}

export interface SessionMove {
  /** Undefined: the position stays. */
  cursor?: string | undefined;
  returned: readonly string[];
  /** Returned ids that are before the new position. */
  passed: readonly string[];
}

/** Session storage shared by all processes. Ids are stored as hashes. */
export interface SessionStore {
  find(idHash: Buffer): Promise<Session | undefined>;
  insert(idHash: Buffer, session: Omit<Session, 'seen_at' | 'subscriptions'>): Promise<void>;
  touch(idHash: Buffer, now: number): Promise<void>;
  /** Returns false if the session already has `max` subscriptions. */
  subscribe(idHash: Buffer, uri: string, max: number): Promise<boolean>;
  unsubscribe(idHash: Buffer, uri: string): Promise<void>;
  setLogLevel(idHash: Buffer, level: string): Promise<void>;
  readPosition(idHash: Buffer): Promise<SessionPosition>;
  movePosition(idHash: Buffer, move: SessionMove): Promise<void>;
  moveStreamCursor(idHash: Buffer, cursor: string): Promise<void>;
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
  /** Subscribes the session with this key to a resource. @throws {RpcError} when it has the maximum number already. */
  subscribe(key: string, uri: string): Promise<void>;
  /** Ends a subscription. */
  unsubscribe(key: string, uri: string): Promise<void>;
  /** What the waiting calls of the session have returned. */
  readPosition(key: string): Promise<SessionPosition>;
  /** Moves the position forward, after a response was sent. Later reads in this process wait for it. Never throws. */
  movePosition(key: string, move: SessionMove): void;
  /** Records where a notification stream of the session ended. Never throws. */
  moveStreamCursor(key: string, cursor: string): void;
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
export function createSessions(store: SessionStore, log: (error: unknown) => void): Sessions {
  /** Position updates in progress, by session key. */
  const moving = new Map<string, Promise<void>>();

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
    throw new McpHttpError(404, rpcCodes.sessionNotFound, 'Session not found: initialize again.');
  }

  return {
    check,
    async begin(actor, session) {
      const id = randomBytes(24).toString('base64url');
      const created_at = Date.now();
      await store.insert(hashOf(id), { agent_id: actor.agent_id, ...session, created_at });
      return id;
    },
    async end(id, actor) {
      await check(id, actor);
      await store.remove(hashOf(id));
    },
    async subscribe(key, uri) {
      if (!(await store.subscribe(Buffer.from(key, 'base64url'), uri, maxSubscriptions))) {
        const text = `A session can subscribe to at most ${maxSubscriptions} resources.`;
        throw new RpcError(rpcCodes.serverError, text);
      }
    },
    unsubscribe: (key, uri) => store.unsubscribe(Buffer.from(key, 'base64url'), uri),
    async readPosition(key) {
      await moving.get(key);
      return store.readPosition(Buffer.from(key, 'base64url'));
    },
    movePosition(key, move) {
      const moved = (moving.get(key) ?? Promise.resolve())
        .then(() => store.movePosition(Buffer.from(key, 'base64url'), move))
        .catch(log)
        .finally(() => {
          if (moving.get(key) === moved) moving.delete(key);
        });
      moving.set(key, moved);
    },
    moveStreamCursor(key, cursor) {
      store.moveStreamCursor(Buffer.from(key, 'base64url'), cursor).catch(log);
    },
    setLogLevel: (key, level) => store.setLogLevel(Buffer.from(key, 'base64url'), level),
  };
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
