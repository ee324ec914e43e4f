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
  /** URIs of the resources whose changes it wants to hear of. */
  subscriptions: readonly string[];
  created_at: number;
  seen_at: number;
}

export interface SessionWithKey extends Session {
  /** Names it towards other processes, without being its id. */
  key: string;
}

/** Where sessions are kept, so that every process knows them. Ids only as hashes. */
export interface SessionStore {
  find(idHash: Buffer): Promise<Session | undefined>;
  insert(idHash: Buffer, session: Omit<Session, 'seen_at' | 'subscriptions'>): Promise<void>;
  touch(idHash: Buffer, now: number): Promise<void>;
  /** Answers false when the session has as many as it may have. */
  subscribe(idHash: Buffer, uri: string, most: number): Promise<boolean>;
  unsubscribe(idHash: Buffer, uri: string): Promise<void>;
  setLogLevel(idHash: Buffer, level: string): Promise<void>;
  remove(idHash: Buffer): Promise<void>;
}

export interface Sessions {
  /** Begins a session of the actor's agent; answers its id, which is shown this once. */
  begin(actor: Actor, protocolVersion: string, client: ClientInfo): Promise<string>;
  /** @throws {McpHttpError} 404 when it is unknown, ended, or of another agent: these look alike. */
  check(id: string, actor: Actor): Promise<SessionWithKey>;
  /**
   * Adds a URI to what the session named by `key` wants to hear of. Other processes have been told when this resolves, and know it a
   * moment later; within 5 s if the bus failed.
   * @throws {RpcError} when it has as many as it may have.
   */
  subscribe(key: string, uri: string): Promise<void>;
  /** Takes it away again; known elsewhere likewise. */
  unsubscribe(key: string, uri: string): Promise<void>;
  /** Notes from which severity on the session wants messages (MCP, Logging); known elsewhere likewise. */
  setLogLevel(key: string, level: LoggingLevel): Promise<void>;
  /** Stops listening to other processes. */
  close(): void;
  /** Ends a session for good; known elsewhere likewise. @throws {McpHttpError} as `check`. */
  end(id: string, actor: Actor): Promise<void>;
}

/** A session that nobody used for a week is over. */
const sessionLifetimeMs = 7 * 24 * 3_600_000;
const touchIntervalMs = 3_600_000;
const cacheLifetimeMs = 5_000;
const maxCacheSize = 10_000;
/** How long the other processes get to hear of a change that the very next call counts on. */
const propagationDelayMs = 100;
/** A client that shows more than this is not served by hearing of each. */
const maxSubscriptions = 500;

const topic = 'mcp/sessions';
const changeSchema = z.object({ session: z.string() });

/** MCP sessions (MCP, Transports: Session Management) over a store that all processes share, with a cache of a few seconds. */
export function createSessions(store: SessionStore, bus: McpBus, log: BusLog): Sessions {
  const cache = new Map<string, { session: SessionWithKey; until: number }>();
  /** Changes heard of: what was read before one of them may be old and is not kept. */
  let changes = 0;
  const listening = listenOnTopic(bus, {
    topic,
    schema: changeSchema,
    onMessage: ({ session }) => forget(session),
    log,
  });

  function forget(key: string): void {
    changes += 1;
    cache.delete(key);
  }

  /** The bus has it before the client is answered, so that it is ahead of nearly all that happens then. */
  async function changed(key: string): Promise<void> {
    forget(key);
    const message = { topic, body: JSON.stringify({ session: key }) };
    await bus.publish([message]).catch((error: unknown) => log('a changed session was not announced', error));
  }

  function remember(session: SessionWithKey): void {
    const { key } = session;
    cache.delete(key);
    cache.set(key, { session, until: Date.now() + cacheLifetimeMs });
    for (const oldest of cache.keys()) {
      if (cache.size <= maxCacheSize) break;
      cache.delete(oldest);
    }
  }

  async function find(hash: Buffer): Promise<SessionWithKey | undefined> {
    const key = hash.toString('base64url');
    const before = changes;
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
    if (changes === before) remember(session);
    return session;
  }

  async function check(id: string, actor: Actor): Promise<SessionWithKey> {
    const session = await find(hashOf(id));
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
      await changed(key);
    },
    async subscribe(key, uri) {
      if (!(await store.subscribe(Buffer.from(key, 'base64url'), uri, maxSubscriptions))) {
        const text = `A session can subscribe to ${maxSubscriptions} resources at most.`;
        throw new RpcError(rpcCodes.serverError, text);
      }
      await changed(key);
    },
    async unsubscribe(key, uri) {
      await store.unsubscribe(Buffer.from(key, 'base64url'), uri);
      await changed(key);
    },
    async setLogLevel(key, level) {
      await store.setLogLevel(Buffer.from(key, 'base64url'), level);
      await changed(key);
      // What a call has to say in the meantime would be lost, and the next one may reach any process.
      await pause(propagationDelayMs);
    },
    close: () => void listening.stop(),
  };
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
