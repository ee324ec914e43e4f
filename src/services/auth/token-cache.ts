import { LRUCache } from 'lru-cache';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';

interface CachedEntry {
  actor: Actor;
  until: number;
}

const maxAgeMs = 5_000;
const purgeMs = 60_000;
const maxEntries = 10_000;

/**
 * Creates a cache of valid tokens. Entries live for five seconds from before their look-up, but not beyond the token's expiry.
 * Concurrent callers share one look-up of a token. The cache holds at most 10,000 tokens and evicts the least recently used.
 */
export function createTokenCache(load: (tokenId: string) => Promise<Actor | undefined>, now: () => number) {
  const entries = new LRUCache<string, CachedEntry>({ max: maxEntries });
  const pending = new Map<string, Promise<Actor | undefined>>();
  let purgedAt = now();

  function remove(matches: (entry: CachedEntry) => boolean): void {
    // A copy, because the cache must not change while it is iterated.
    for (const [tokenId, entry] of Array.from(entries)) if (matches(entry)) entries.delete(tokenId);
  }

  function keep(tokenId: string, actor: Actor, since: number): void {
    if (since - purgedAt > purgeMs) {
      purgedAt = since;
      // Later than they expire: open streams extend their entries.
      remove(({ until }) => until < since - purgeMs);
    }
    entries.set(tokenId, { actor, until: Math.min(since + maxAgeMs, actor.expires_at) });
  }

  return {
    /** Returns the actor of a cached token, or undefined. */
    get(tokenId: string): Actor | undefined {
      const entry = entries.get(tokenId);
      if (!entry) return undefined;
      if (entry.until > now()) return entry.actor;
      entries.delete(tokenId);
      return undefined;
    },

    /** Loads the token, and caches it if it is valid. */
    lookUp(tokenId: string): Promise<Actor | undefined> {
      const running = pending.get(tokenId);
      if (running) return running;
      const since = now();
      const isCurrent = () => pending.get(tokenId) === loading;
      const loading = load(tokenId)
        .then((actor) => {
          if (actor && isCurrent()) keep(tokenId, actor, since);
          return actor;
        })
        .finally(() => {
          if (isCurrent()) pending.delete(tokenId);
        });
      pending.set(tokenId, loading);
      return loading;
    },

    /** Extends the entries of tokens that were found valid elsewhere by a look-up that began at `since`. */
    extend(tokenIds: Iterable<string>, since: number): void {
      for (const tokenId of tokenIds) {
        const entry = entries.peek(tokenId);
        if (entry && entry.until < since + maxAgeMs) keep(tokenId, entry.actor, since);
      }
    },

    /** Removes matching entries. Results of pending look-ups are not cached, because they may be outdated. */
    forget(matches: (actor: Actor) => boolean): void {
      pending.clear();
      remove(({ actor }) => matches(actor));
    },
  };
}
