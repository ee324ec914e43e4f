import { setTimeout as pause } from 'node:timers/promises';
import { createHash, randomBytes } from 'node:crypto';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Actor } from '../../../domain/auth/actor.ts';
import type { ClientInfo } from './client-info.ts';
import { type BusLog, listenOnTopic, type McpBus } from '../protocol/bus.ts';
import { McpHttpError, RpcError, rpcCodes } from '../protocol/errors.ts';

export interface Session {
  agent_id: string;
  protocol_version: string;
  client: ClientInfo;
  /** URIs of the subscribed resources. */
  subscriptions: readonly string[];
  created_at: number;
  seen_at: number;
}

export interface SessionWithKey extends Session {
  /** Hash of the session id; names the session on the bus. */
  key: string;
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
  remove(idHash: Buffer): Promise<void>;
}

export interface Sessions {
  /** Begins a session of the actor's agent and returns its id, which is not stored. */
  begin(actor: Actor, protocolVersion: string, client: ClientInfo): Promise<string>;
  /** Returns the session. @throws {McpHttpError} 404 if it is unknown, has ended or belongs to another agent. */
  check(id: string, actor: Actor): Promise<SessionWithKey>;
  /**
   * Subscribes a session to a resource. Other processes see the change a moment after this resolves; within 5 s if the bus fails.
   * @throws {RpcError} at the maximum number of subscriptions.
   */
  subscribe(key: string, uri: string): Promise<void>;
  /** Ends a subscription. Propagates as in `subscribe`. */
  unsubscribe(key: string, uri: string): Promise<void>;
  /** Sets the minimum severity of log messages (MCP, Logging). Propagates as in `subscribe`. */
  setLogLevel(key: string, level: LoggingLevel): Promise<void>;
  /** Stops listening to other processes. */
  close(): void;
  /** Ends a session. Propagates as in `subscribe`. @throws {McpHttpError} as `check`. */
  end(id: string, actor: Actor): Promise<void>;
}

/** A session ends after a week without use. */
const sessionLifetimeMs = 7 * 24 * 3_600_000;
const touchIntervalMs = 3_600_000;
const cacheLifetimeMs = 5_000;
const maxCacheSize = 10_000;
/** Delay after a change that the client's next call depends on, so that other processes receive it. */
const propagationDelayMs = 100;
const maxSubscriptions = 500;

const topic = 'mcp/sessions';
const changeSchema = z.object({ session: z.string() });

/** Reads sessions from the store and caches them for a few seconds. */
function createSessionCache(store: SessionStore) {
  const cache = new Map<string, { session: SessionWithKey; until: number }>();
  /** Counts changes. A session read before a change may be stale and is not cached. */
  let changes = 0;

  function add(session: SessionWithKey): void {
    const { key } = session;
    cache.delete(key);
    cache.set(key, { session, until: Date.now() + cacheLifetimeMs });
    for (const oldest of cache.keys()) {
      if (cache.size <= maxCacheSize) break;
      cache.delete(oldest);
    }
  }

  return {
    invalidate(key: string): void {
      changes += 1;
      cache.delete(key);
    },
    async find(hash: Buffer): Promise<SessionWithKey | undefined> {
      const key = hash.toString('base64url');
      const changesBefore = changes;
      const now = Date.now();
      const cached = cache.get(key);
      if (cached && cached.until > now) return cached.session;
      const found = await store.find(hash);
      if (!found || found.seen_at < now - sessionLifetimeMs) {
        cache.delete(key);
        return undefined;
      }
      const session = { ...found, key };
      if (session.seen_at < now - touchIntervalMs) await store.touch(hash, now);
      if (changes === changesBefore) add(session);
      return session;
    },
  };
}

/** MCP sessions (MCP, Transports: Session Management) over a store that all processes share. */
export function createSessions(store: SessionStore, bus: McpBus, log: BusLog): Sessions {
  const cache = createSessionCache(store);
  const subscription = listenOnTopic(bus, {
    topic,
    schema: changeSchema,
    onMessage: ({ session }) => cache.invalidate(session),
    log,
  });

  /** Publishes before the client gets its response, so that its next call nearly always sees the change. */
  async function publishChange(key: string): Promise<void> {
    cache.invalidate(key);
    const message = { topic, body: JSON.stringify({ session: key }) };
    await bus.publish([message]).catch((error: unknown) => log('publishing a changed session failed', error));
  }

  async function check(id: string, actor: Actor): Promise<SessionWithKey> {
    const session = await cache.find(hashOf(id));
    if (session?.agent_id === actor.agent_id) return session;
    throw new McpHttpError(404, rpcCodes.sessionNotFound, 'Session not found: initialize again.');
  }

  return {
    check,
    async begin(actor, protocol_version, client) {
      const id = randomBytes(24).toString('base64url');
      const created_at = Date.now();
      await store.insert(hashOf(id), { agent_id: actor.agent_id, protocol_version, client, created_at });
      return id;
    },
    async end(id, actor) {
      const { key } = await check(id, actor);
      await store.remove(hashOf(id));
      await publishChange(key);
    },
    async subscribe(key, uri) {
      if (!(await store.subscribe(Buffer.from(key, 'base64url'), uri, maxSubscriptions))) {
        const text = `A session can subscribe to at most ${maxSubscriptions} resources.`;
        throw new RpcError(rpcCodes.serverError, text);
      }
      await publishChange(key);
    },
    async unsubscribe(key, uri) {
      await store.unsubscribe(Buffer.from(key, 'base64url'), uri);
      await publishChange(key);
    },
    async setLogLevel(key, level) {
      await store.setLogLevel(Buffer.from(key, 'base64url'), level);
      await publishChange(key);
      // The next call may reach any process and must log at the new level.
      await pause(propagationDelayMs);
    },
    close: () => void subscription.stop(),
  };
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
