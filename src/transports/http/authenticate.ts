import type { Context, Next } from 'koa';
import type { Actor } from '../../domain/auth/actor.ts';
import { DomainError } from '../../domain/errors.ts';
import type { TokenAudience, Tokens } from '../../services/auth/tokens.ts';

const bearer = /^Bearer +([\w~+/.-]+=*)$/i;

/** The token of an Authorization header (RFC 6750, section 2.1), or undefined when there is none of that form. */
export function bearerToken(header: string | undefined): string | undefined {
  return bearer.exec(header ?? '')?.[1];
}

/**
 * The challenge that goes with a refusal (RFC 6750, section 3; RFC 9728, section 5.1), or undefined when the error is not one
 * of authentication.
 * @param offered whether the request carried a token at all.
 */
export function challengeFor(error: DomainError, metadataUrl: string, offered: boolean): string | undefined {
  const parts = [`resource_metadata="${metadataUrl}"`];
  if (error.code === 'UNAUTHORIZED') {
    if (offered) parts.unshift('error="invalid_token"');
  } else if (error.code === 'INSUFFICIENT_SCOPE') {
    parts.unshift('error="insufficient_scope"', `scope="${error.scope ?? ''}"`);
  } else {
    return undefined;
  }
  return `Bearer ${parts.join(', ')}`;
}

/** The actor of a request, put into `ctx.state.actor` by `authenticate`. */
export function actorOf(ctx: Context): Actor {
  const actor = (ctx.state as { actor?: Actor }).actor;
  if (!actor) throw new Error('this route is not behind authenticate');
  return actor;
}

/** Lets only bearers of a good token for this door pass, and adds the challenge to refusals from further inside. */
export function authenticate(tokens: Pick<Tokens, 'verify'>, door: TokenAudience, metadataUrl: string) {
  return async function authenticated(ctx: Context, next: Next): Promise<void> {
    const token = bearerToken(ctx.get('Authorization'));
    try {
      if (!token)
        throw new DomainError('UNAUTHORIZED', 'This needs the header Authorization: Bearer <access token>.');
      ctx.state['actor'] = await tokens.verify(token, door);
      await next();
    } catch (error) {
      const challenge = error instanceof DomainError && challengeFor(error, metadataUrl, token !== undefined);
      if (challenge) ctx.set('WWW-Authenticate', challenge);
      throw error;
    }
  };
}
