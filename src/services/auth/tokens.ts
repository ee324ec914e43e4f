import type { TokenRow } from '../../repositories/auth/tokens.ts';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { createTokenCache } from './token-cache.ts';
import { steadyNow } from '../../shared/clock.ts';

/** An interface that verifies tokens. Each is an OAuth resource (RFC 8707). */
export type TokenAudience = 'api' | 'mcp' | 'ws';

/** What a token is for: one interface, or the whole service if the client named none. */
export type TokenResource = TokenAudience | 'service';

/** Maximum lifetime of an access token, in seconds. */
export const tokenLifeSeconds = 900;

/** Lifetime of a refresh token, in seconds; each rotation begins a new one. */
export const refreshTokenLifeSeconds = 30 * 24 * 60 * 60;

/** The client of tokens that an operator issues. It has no secret, so no program can sign in as it. */
export const operatorClientId = 'operator';

/** Ends all tokens of an agent or of a client, or one token. A grant ends as its tokens: `endTokens`. */
export interface Revocation {
  agent_id?: string | undefined;
  client_id?: string | undefined;
  token_id?: string | undefined;
}

export interface Tokens {
  /**
   * Returns the actor of a bearer token.
   * @param resource the URL of an agent: tokens for calls of this agent are accepted too.
   * @throws {DomainError} UNAUTHORIZED if it is unknown, expired, revoked, of a retired agent, or for another audience;
   * UNAVAILABLE if the database does not respond
   */
  verify(token: string, audience: TokenAudience, resource?: string): Promise<Actor>;
  /**
   * Verifies a token again, by its hash as in `Actor.token_id`.
   * @throws {DomainError} as verify
   */
  confirm(tokenId: string, audience: TokenAudience): Promise<Actor>;
  /**
   * Extends the cached entries of tokens (as in `Actor.token_id`) that the database confirmed at `since`, in milliseconds since the
   * epoch, by five seconds from then. So tokens of open streams need no look-up at each call.
   */
  extend(tokenIds: Iterable<string>, since: number): void;
  /** Removes these tokens from the cache; called for each revocation on the bus. */
  forget(revocation: Revocation): void;
}

/** Returns the URL of each resource. `publicUrl` has no trailing slash. */
export function toResourceUrls(publicUrl: string): Record<TokenResource, string> {
  return {
    service: publicUrl,
    api: `${publicUrl}/v1`,
    mcp: `${publicUrl}/mcp`,
    ws: `${publicUrl.replace(/^http/, 'ws')}/ws`,
  };
}

/** Whether a revocation ends the access of this actor; for open sockets and streams. */
export function isEndedBy(revocation: Revocation, actor: Actor): boolean {
  const { agent_id, client_id, token_id } = revocation;
  return agent_id === actor.agent_id || client_id === actor.client_id || token_id === actor.token_id;
}

export interface TokensParts {
  /** Returns the row of a token by its SHA-256; undefined if it is unknown, revoked, or of a retired agent. */
  find(tokenHash: Buffer): Promise<TokenRow | undefined>;
  resources: Record<TokenResource, string>;
  /** By how much the database is ahead of this process, in milliseconds. */
  offsetMs?: () => number;
  /** Milliseconds since the epoch, by the clock of this process. Default: `steadyNow`. */
  now?: () => number;
}

const maxTokenLength = 1024;

/**
 * Creates the token check of one process. Valid tokens are cached for five seconds, but not beyond their expiry; unknown tokens are
 * not cached. Concurrent checks of one token share one look-up. The database has the time of expiry by its clock; actors have it by the
 * clock of this process.
 */
export function createTokens({ find, resources, offsetMs = () => 0, now = steadyNow }: TokensParts): Tokens {
  const cache = createTokenCache(async (tokenId) => {
    const row = await find(Buffer.from(tokenId, 'base64url'));
    return row && toActor(tokenId, { ...row, expires_at: row.expires_at - offsetMs() });
  }, now);
  const accepted: Record<TokenAudience, readonly string[]> = {
    api: [resources.service, resources.api],
    mcp: [resources.service, resources.mcp],
    ws: [resources.service, resources.ws, resources.api],
  };

  async function confirm(tokenId: string, audience: TokenAudience, resource?: string): Promise<Actor> {
    const actor = cache.get(tokenId) ?? (await cache.lookUp(tokenId));
    if (!actor) throw unknownToken();
    if (actor.expires_at <= now()) throw unauthorized('This access token has expired; request a new one.');
    if (!accepted[audience].includes(actor.resource) && actor.resource !== resource) {
      throw unauthorized(
        `This access token is for ${actor.resource}; request one for ${resources[audience]}.`,
      );
    }
    return actor;
  }

  return {
    verify(token, audience, resource) {
      if (token.length > maxTokenLength) return Promise.reject(unknownToken());
      return confirm(hash('sha256', token, 'base64url'), audience, resource);
    },
    confirm: (tokenId, audience) => confirm(tokenId, audience),
    extend: cache.extend,
    forget(revocation) {
      cache.forget((actor) => isEndedBy(revocation, actor));
    },
  };
}

/** An open stream keeps its actor. Most tokens have the same few sets of scopes, so equal sets are shared. */
const sharedScopes = new LRUCache<string, ReadonlySet<string>>({ max: 100 });

function shareScopes(scopes: readonly string[]): ReadonlySet<string> {
  const key = scopes.join(' ');
  const shared = sharedScopes.get(key) ?? new Set(scopes);
  sharedScopes.set(key, shared);
  return shared;
}

function toActor(token_id: string, row: TokenRow): Actor {
  const { agent_id, canonical_handle: handle, owner_id, client_id, resource, expires_at, grant_id } = row;
  const scopes = shareScopes(row.scopes);
  return {
    agent_id,
    handle,
    owner_id,
    scopes,
    client_id,
    ...(grant_id !== null && { grant_id }),
    resource,
    expires_at,
    token_id,
  };
}

function unknownToken(): DomainError {
  return unauthorized('This access token is unknown or was revoked; request a new one.');
}

function unauthorized(message: string): DomainError {
  return new DomainError('UNAUTHORIZED', message);
}
