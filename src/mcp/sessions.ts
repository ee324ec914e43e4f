import { createHash, randomBytes } from 'node:crypto';
import type { Actor } from '../domain/actor.ts';
import type { ClientFacts } from './client-facts.ts';
import { Refusal, rpcCodes } from './refusal.ts';

export interface Session {
  agent_id: string;
  protocol_version: string;
  client: ClientFacts;
  created_at: number;
  seen_at: number;
}

/** Where sessions are kept, so that every process knows them. Ids only as hashes. */
export interface SessionStore {
  find(idHash: Buffer): Promise<Session | undefined>;
  insert(idHash: Buffer, session: Omit<Session, 'seen_at'>): Promise<void>;
  touch(idHash: Buffer, now: number): Promise<void>;
  remove(idHash: Buffer): Promise<void>;
}

export interface Sessions {
  /** Begins a session of the actor's agent; answers its id, which is shown this once. */
  begin(actor: Actor, protocolVersion: string, client: ClientFacts): Promise<string>;
  /** @throws {Refusal} 404 when it is unknown, ended, or of another agent: these look alike. */
  check(id: string, actor: Actor): Promise<Session>;
  /** Ends a session for good; other processes notice within 5 s. @throws {Refusal} as `check`. */
  end(id: string, actor: Actor): Promise<void>;
}

/** A session that nobody used for a week is over. */
const sessionLifetime = 7 * 24 * 3_600_000;
const touchInterval = 3_600_000;
const cacheLifetime = 5_000;
const cacheSize = 10_000;

/** MCP sessions (MCP, Transports: Session Management) over a store that all processes share, with a cache of a few seconds. */
export function createSessions(store: SessionStore): Sessions {
  const cache = new Map<string, { session: Session; until: number }>();

  function remember(key: string, session: Session): void {
    cache.delete(key);
    cache.set(key, { session, until: Date.now() + cacheLifetime });
    for (const oldest of cache.keys()) {
      if (cache.size <= cacheSize) break;
      cache.delete(oldest);
    }
  }

  async function find(hash: Buffer): Promise<Session | undefined> {
    const key = hash.toString('base64');
    const now = Date.now();
    const cached = cache.get(key);
    if (cached && cached.until > now) return cached.session;
    const session = await store.find(hash);
    if (!session || session.seen_at < now - sessionLifetime) {
      cache.delete(key);
      return undefined;
    }
    if (session.seen_at < now - touchInterval) await store.touch(hash, now);
    remember(key, session);
    return session;
  }

  async function check(id: string, actor: Actor): Promise<Session> {
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
      await check(id, actor);
      const hash = hashOf(id);
      await store.remove(hash);
      cache.delete(hash.toString('base64'));
    },
  };
}

/** Names a session towards other processes, without being its id. */
export function sessionKey(id: string): string {
  return hashOf(id).toString('base64url');
}

function hashOf(id: string): Buffer {
  return createHash('sha256').update(id).digest();
}
