import type { Actor } from '../domain/actor.ts';

/** Which door a token is used at; each is a resource of its own (RFC 8707). */
export type Door = 'api' | 'mcp' | 'ws';

/** What a revocation takes away: everything of an agent, of a client, of a grant, or one token. */
export interface Revocation {
  agent_id?: string;
  client_id?: string;
  grant_id?: string;
  token_id?: string;
}

export interface Tokens {
  /**
   * The actor behind a bearer token.
   * @throws {DomainError} UNAUTHORIZED when it is unknown, expired, revoked, of a retired agent, or for another door.
   */
  verify(token: string, door: Door): Promise<Actor>;
  /** Forgets what was learned of these tokens; called for each revocation on the bus. */
  forget(revocation: Revocation): void;
}
