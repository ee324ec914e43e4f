import { setTimeout as pause } from 'node:timers/promises';
import { createHash, randomBytes } from 'node:crypto';
import type { LoggingLevel } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import type { Actor } from '../domain/actor.ts';
import type { ClientFacts } from './client-facts.ts';
import { type BusLog, listenFor, type LocalBus } from './local-bus.ts';
import { Refusal, RpcError, rpcCodes } from './refusal.ts';

export interface Session {
  agent_id: string;
  protocol_version: string;
  client: ClientFacts;
  /** URIs of the resources whose changes it wants to hear of. */
  subscriptions: readonly string[];
  created_at: number;
  seen_at: number;
}

export interface KnownSession extends Session {
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
  begin(actor: Actor, protocolVersion: string, client: ClientFacts): Promise<string>;
  /** @throws {Refusal} 404 when it is unknown, ended, or of another agent: these look alike. */
  check(id: string, actor: Actor): Promise<KnownSession>;
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
  /** Ends a session for good; known elsewhere likewise. @throws {Refusal} as `check`. */
  end(id: string, actor: Actor): Promise<void>;
}

/** A session that nobody used for a week is over. */
const sessionLifetime = 7 * 24 * 3_600_000;
const touchInterval = 3_600_000;
const cacheLifetime = 5_000;
const cacheSize = 10_000;
/** How long the other processes get to hear of a change that the very next call counts on. */
const othersHear_ms = 100;
/** A client that shows more than this is not served by hearing of each. */
const mostSubscriptions = 500;

const topic = 'mcp/sessions';
const changeSchema = z.object({ session: z.string() });

/** MCP sessions (MCP, Transports: Session Management) over a store that all processes share, with a cache of a few seconds. */
export function createSessions(store: SessionStore, bus: LocalBus, log: BusLog): Sessions {
  const cache = new Map<string, { session: KnownSession; until: number }>();
  /** Changes heard of: what was read before one of them may be old and is not kept. */
  let changes = 0;
  const listening = listenFor(bus, {
    topic,
    schema: changeSchema,
    take: ({ session }) => forget(session),
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

  function remember(session: KnownSession): void {
    const { key } = session;
    cache.delete(key);
    cache.set(key, { session, until: Date.now() + cacheLifetime });
    for (const oldest of cache.keys()) {
      if (cache.size <= cacheSize) break;
      cache.delete(oldest);
    }
  }

  async function find(hash: Buffer): Promise<KnownSession | undefined> {
    const key = hash.toString('base64url');
    const before = changes;
    const now = Date.now();
    const cached = cache.get(key);
    if (cached && cached.until > now) return cached.session;
    const found = await store.find(hash);
    if (!found || found.seen_at < now - sessionLifetime) {
      cache.delete(key);
      return undefined;
    }
    const session = { ...found, key };
    if (session.seen_at < now - touchInterval) await store.touch(hash, now);
    if (changes === before) remember(session);
    return session;
  }

  async function check(id: string, actor: Actor): Promise<KnownSession> {
    const session = await find(hashOf(id));
    if (session?.agent_id === actor.agent_id) return session;
    throw new Refusal(404, rpcCodes.sessionNotFound, 'Session not found: initialize again.');
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
      if (!(await store.subscribe(Buffer.from(key, 'base64url'), uri, mostSubscriptions))) {
        const text = `A session can subscribe to ${mostSubscriptions} resources at most.`;
        throw new RpcError(rpcCodes.refused, text);
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
      await pause(othersHear_ms);
    },
    close: () => void listening.stop(),
  };
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
