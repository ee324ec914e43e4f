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
 * Callers that ask for the same token at the same time share one look-up. At most 10,000 tokens; those go first that were found good
 * the longest time ago.
 */
export function createTokenCache(
  load: (tokenId: string) => Promise<CachedToken | undefined>,
  now: () => number,
) {
  const known = new Map<string, { token: CachedToken; until: number }>();
  const underWay = new Map<string, Promise<CachedToken | undefined>>();

  function keep(tokenId: string, token: CachedToken, since: number): void {
    // A map keeps the order of insertion.
    known.delete(tokenId);
    const [oldest] = known.size >= maxEntries ? known.keys() : [];
    if (oldest !== undefined) known.delete(oldest);
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
        const entry = known.get(tokenId);
        if (entry && entry.until < since + maxAgeMs) keep(tokenId, entry.token, since);
      }
    },

    /** Forgets what matches. Look-ups under way may have read what is no longer so: they are not remembered. */
    forget(matches: (tokenId: string, token: CachedToken) => boolean): void {
      underWay.clear();
      for (const [tokenId, { token }] of known) if (matches(tokenId, token)) known.delete(tokenId);
    },
  };
}
