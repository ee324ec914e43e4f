import type { Context, Next } from 'koa';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { TokenAudience, Tokens } from '../../services/auth/tokens.ts';

const bearer = /^Bearer +([\w~+/.-]+=*)$/i;

/** The token of an Authorization header (RFC 6750, section 2.1), or undefined when it is not a bearer token. */
export function bearerToken(header: string | undefined): string | undefined {
  return bearer.exec(header ?? '')?.[1];
}

/**
 * The WWW-Authenticate header of an error response (RFC 6750, section 3; RFC 9728, section 5.1); undefined when the error does
 * not concern authentication.
 * @param hasToken whether the request had a token.
 */
export function challengeFor(error: DomainError, metadataUrl: string, hasToken: boolean): string | undefined {
  const parts = [`resource_metadata="${metadataUrl}"`];
  if (error.code === 'UNAUTHORIZED') {
    if (hasToken) parts.unshift('error="invalid_token"');
  } else if (error.code === 'INSUFFICIENT_SCOPE') {
    parts.unshift('error="insufficient_scope"', `scope="${error.scope ?? ''}"`);
  } else {
    return undefined;
  }
  return `Bearer ${parts.join(', ')}`;
}

/** The actor that `authenticate` stored in `ctx.state.actor`. */
export function actorOf(ctx: Context): Actor {
  const actor = (ctx.state as { actor?: Actor }).actor;
  if (!actor) throw new Error('the route does not use authenticate');
  return actor;
}

/**
 * Requires a valid token for this audience, and adds the challenge to error responses of later handlers.
 * @param resourceOf returns the URL of the agent of a request, if tokens for one agent are accepted too.
 */
export function authenticate(
  tokens: Pick<Tokens, 'verify'>,
  audience: TokenAudience,
  metadataUrl: string,
  resourceOf: (ctx: Context) => string | undefined = () => undefined,
) {
  return async function authenticated(ctx: Context, next: Next): Promise<void> {
    const token = bearerToken(ctx.get('Authorization'));
    try {
      if (!token)
        throw new DomainError(
          'UNAUTHORIZED',
          'Authentication required: send the header Authorization: Bearer <access token>.',
        );
      ctx.state['actor'] = await tokens.verify(token, audience, resourceOf(ctx));
      await next();
    } catch (error) {
      const challenge = error instanceof DomainError && challengeFor(error, metadataUrl, token !== undefined);
      if (challenge) ctx.set('WWW-Authenticate', challenge);
      throw error;
    }
  };
}
