import type { Context } from 'koa';
import type { Actor } from '../../../domain/auth/actor.ts';
import { DomainError } from '../../../domain/errors.ts';
import { scopes } from '../../../domain/auth/scopes.ts';
import { bearerToken, challengeFor } from '../../http/authenticate.ts';
import type { Tokens } from '../../../services/auth/tokens.ts';

/** All four of interface.md: common clients ask for what this names and cannot ask for more later. */
const advertisedScopes = scopes.slice(0, 4).join(' ');

export interface Authorizer {
  /** The actor behind the bearer token. @throws {DomainError} UNAUTHORIZED, with the challenge set. */
  authenticate(ctx: Context): Promise<Actor>;
  /** Runs `check` and sets the challenge when it refuses for a missing scope (MCP, Authorization: 403). */
  withChallenge(ctx: Context, check: () => void): void;
}

/** The authorization of the tool server: bearer tokens for its own door only (MCP, Authorization; RFC 9728). */
export function createAuthorizer(tokens: Tokens, publicUrl: string): Authorizer {
  const metadataUrl = `${publicUrl}/.well-known/oauth-protected-resource/mcp`;

  function challenge(ctx: Context, error: unknown, offered: boolean): void {
    const header = error instanceof DomainError ? challengeFor(error, metadataUrl, offered) : undefined;
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
        challenge(ctx, error, token !== undefined);
        throw error;
      }
    },
    withChallenge(ctx, check) {
      try {
        check();
      } catch (error) {
        challenge(ctx, error, true);
        throw error;
      }
    },
  };
}
