import { hash } from 'node:crypto';
import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { createTokenCache, type CachedToken } from './token-cache.ts';

/** Which door a token is used at; each is a resource of its own (RFC 8707). */
export type TokenAudience = 'api' | 'mcp' | 'ws';

/** Seconds that an access token lives at most (contract, section 6). */
export const tokenLifeSeconds = 900;

/** Seconds that a refresh token lives, from its rotation on (contract, section 6). */
export const refreshTokenLifeSeconds = 30 * 24 * 60 * 60;

/** The client that tokens made by an operator belong to. It has no secret: nobody signs in as it. */
export const operatorClientId = 'operator';

/** What a revocation takes away: everything of an agent, of a client, of a grant, or one token. */
export interface Revocation {
  agent_id?: string | undefined;
  client_id?: string | undefined;
  grant_id?: string | undefined;
  token_id?: string | undefined;
}

export interface Tokens {
  /**
   * The actor behind a bearer token.
   * @throws {DomainError} UNAUTHORIZED when it is unknown, expired, revoked, of a retired agent, or for another door;
   * UNAVAILABLE when the database does not answer.
   */
  verify(token: string, door: TokenAudience): Promise<Actor>;
  /**
   * As verify, for a token that was verified before: by its hash, as in `Actor.token_id`.
   * @throws {DomainError} as verify
   */
  confirm(tokenId: string, door: TokenAudience): Promise<Actor>;
  /**
   * Tells of tokens, named as in `Actor.token_id`, that they were still good in the database at `since`, in milliseconds since the epoch:
   * what was learned of them is good for another five seconds from then on. So nobody who holds a stream open is looked up at each call.
   */
  extend(tokenIds: Iterable<string>, since: number): void;
  /** Forgets what was learned of these tokens; called for each revocation on the bus. */
  forget(revocation: Revocation): void;
}

/** The resource of each door (contract, section 6). `publicUrl` has no trailing slash. */
export function toResourceUrls(publicUrl: string): Record<TokenAudience, string> {
  return {
    api: `${publicUrl}/v1`,
    mcp: `${publicUrl}/mcp`,
    ws: `${publicUrl.replace(/^http/, 'ws')}/ws`,
  };
}

/** Whether a revocation ends what this actor may do; for open sockets and streams. */
export function isEndedBy(revocation: Revocation, actor: Actor, grantId: string | null = null): boolean {
  const { agent_id, client_id, grant_id, token_id } = revocation;
  return (
    agent_id === actor.agent_id ||
    client_id === actor.client_id ||
    token_id === actor.token_id ||
    (grant_id !== undefined && grant_id === grantId)
  );
}

type TokenRow = NonNullable<Awaited<ReturnType<Work['tokens']['find']>>>;

export interface TokensParts {
  /** The row of a token by its SHA-256; undefined when it is unknown, revoked, or of a retired agent. */
  find(tokenHash: Buffer): Promise<TokenRow | undefined>;
  resources: Record<TokenAudience, string>;
  /** Milliseconds since the epoch. */
  now?: () => number;
}

const maxTokenLength = 1024;

/**
 * The token check of one process. What it learns it remembers until five seconds after the database said so, and never beyond the
 * token's expiry; that a token is unknown it does not remember. Simultaneous checks of one token cost one look-up.
 */
export function createTokens({ find, resources, now = Date.now }: TokensParts): Tokens {
  const cache = createTokenCache(async (tokenId) => {
    const row = await find(Buffer.from(tokenId, 'base64url'));
    return row && toCachedToken(tokenId, row);
  }, now);
  const accepted: Record<TokenAudience, readonly string[]> = {
    api: [resources.api],
    mcp: [resources.mcp],
    ws: [resources.ws, resources.api],
  };

  async function confirm(tokenId: string, door: TokenAudience): Promise<Actor> {
    const known = cache.get(tokenId) ?? (await cache.lookUp(tokenId));
    if (!known) throw unknownToken();
    const { actor } = known;
    if (actor.expires_at <= now()) throw refusal('This access token has expired; ask for a new one.');
    if (!accepted[door].includes(actor.resource)) {
      throw refusal(`This access token is for ${actor.resource}; here one for ${resources[door]} is needed.`);
    }
    return actor;
  }

  return {
    verify(token, door) {
      if (token.length > maxTokenLength) return Promise.reject(unknownToken());
      return confirm(hash('sha256', token, 'base64url'), door);
    },
    confirm,
    extend: cache.extend,
    forget(revocation) {
      cache.forget((_id, { actor, grant_id }) => isEndedBy(revocation, actor, grant_id));
    },
  };
}

function toCachedToken(token_id: string, row: TokenRow): CachedToken {
  const { agent_id, canonical_handle, owner_id, client_id, resource, expires_at, grant_id } = row;
  const scopes = new Set(row.scopes);
  const rights = { scopes, client_id, resource, expires_at, token_id };
  return { actor: { agent_id, handle: canonical_handle, owner_id, ...rights }, grant_id };
}

function unknownToken(): DomainError {
  return refusal('This access token is unknown or was revoked; ask for a new one.');
}

function refusal(message: string): DomainError {
  return new DomainError('UNAUTHORIZED', message);
}
