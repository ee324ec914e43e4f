import type { Context } from 'koa';
import type { Actor } from '../../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../../packages/core/src/domain/errors.ts';
import { basicScopes } from '../../../../packages/core/src/domain/auth/scopes.ts';
import { bearerToken, challengeFor } from '../../http/authenticate.ts';
import type { Tokens } from '../../../services/auth/tokens.ts';

/** The four general scopes. Common clients request what the challenge names and cannot request more later. */
const advertisedScopes = basicScopes.join(' ');

export interface Authorizer {
  /** Verifies the bearer token and returns its actor. @throws {DomainError} UNAUTHORIZED, with the challenge set. */
  authenticate(ctx: Context): Promise<Actor>;
  /** Runs `check` and sets the challenge when a scope is missing (MCP, Authorization: 403). */
  withChallenge(ctx: Context, check: () => void): void;
}

/** Authenticates bearer tokens with audience `mcp` (MCP, Authorization; RFC 9728). */
export function createAuthorizer(tokens: Tokens, publicUrl: string): Authorizer {
  const metadataUrl = `${publicUrl}/.well-known/oauth-protected-resource/mcp`;

  function setChallenge(ctx: Context, error: unknown, hasToken: boolean): void {
    const header = error instanceof DomainError ? challengeFor(error, metadataUrl, hasToken) : undefined;
    if (header === undefined) return;
    ctx.set(
      'WWW-Authenticate',
      header.includes('scope="') ? header : `${header}, scope="${advertisedScopes}"`,
    );
  }

  return {
    async authenticate(ctx) {
      const token = bearerToken(ctx.get('Authorization'));
      try {
        if (token === undefined) {
          throw new DomainError(
            'UNAUTHORIZED',
            'This needs the header Authorization: Bearer <access token>.',
          );
        }
        return await tokens.verify(token, 'mcp');
      } catch (error) {
        setChallenge(ctx, error, token !== undefined);
        throw error;
      }
    },
    withChallenge(ctx, check) {
      try {
        check();
      } catch (error) {
        setChallenge(ctx, error, true);
        throw error;
      }
    },
  };
}
