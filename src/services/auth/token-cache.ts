import { LRUCache } from 'lru-cache';
import type { Actor } from '../../domain/auth/actor.ts';

/** What the token check knows of a good token. */
export interface CachedToken {
  actor: Actor;
  grant_id: string | null;
}

const maxAgeMs = 5_000;
const maxEntries = 10_000;

/**
 * Remembers good tokens for at most five seconds, counted from before they were looked up, and never beyond their expiry.
 * Concurrent callers for the same token share one look-up. Holds at most 10,000 tokens.
 */
export function createTokenCache(
  load: (tokenId: string) => Promise<CachedToken | undefined>,
  now: () => number,
) {
  const known = new LRUCache<string, { token: CachedToken; until: number }>({ max: maxEntries });
  const underWay = new Map<string, Promise<CachedToken | undefined>>();

  function keep(tokenId: string, token: CachedToken, since: number): void {
    known.set(tokenId, { token, until: Math.min(since + maxAgeMs, token.actor.expires_at) });
  }

  return {
    /** What is remembered of the token, or undefined. */
    get(tokenId: string): CachedToken | undefined {
      const entry = known.get(tokenId);
      if (!entry) return undefined;
      if (entry.until > now()) return entry.token;
      known.delete(tokenId);
      return undefined;
    },

    /** Looks the token up and remembers it when it is good. */
    lookUp(tokenId: string): Promise<CachedToken | undefined> {
      const running = underWay.get(tokenId);
      if (running) return running;
      const since = now();
      const isCurrent = () => underWay.get(tokenId) === loading;
      const loading = load(tokenId)
        .then((token) => {
          if (token && isCurrent()) keep(tokenId, token, since);
          return token;
        })
        .finally(() => {
          if (isCurrent()) underWay.delete(tokenId);
        });
      underWay.set(tokenId, loading);
      return loading;
    },

    /** These were found good by somebody else, who began to look at `since`: what is remembered of them holds from then on. */
    extend(tokenIds: Iterable<string>, since: number): void {
      for (const tokenId of tokenIds) {
        const entry = known.peek(tokenId);
        if (entry && entry.until < since + maxAgeMs) keep(tokenId, entry.token, since);
      }
    },

    /** Forgets what matches. Look-ups under way may have read what is no longer so: they are not remembered. */
    forget(matches: (tokenId: string, token: CachedToken) => boolean): void {
      underWay.clear();
      // A copy, because the cache must not change while it is iterated.
      for (const [tokenId, { token }] of Array.from(known))
        if (matches(tokenId, token)) known.delete(tokenId);
    },
  };
}
