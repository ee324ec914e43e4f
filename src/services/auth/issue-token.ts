import { randomBytes } from 'node:crypto';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { findAgentByHandle } from '../agents/find-by-handle.ts';
import { type TokenPayload, toTokenRow } from './token-records.ts';
import { operatorClientId, tokenLifeSeconds } from './tokens.ts';

export interface IssueToken {
  handle: string;
  /** The resource URL that the token is for. */
  resource: string;
  scopes: readonly Scope[];
  expires_in: number;
}

/**
 * Issues an access token for an operator, in the form of the authorization server, so that introspection and revocation work.
 * @returns a token response (RFC 6749, section 5.1); `expires_in` in seconds.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE, VALIDATION_ERROR (lifetime not within 1 to 900 seconds)
 */
export async function issueToken(work: SystemWork, input: IssueToken) {
  const { resource, scopes, expires_in } = input;
  if (!Number.isInteger(expires_in) || expires_in < 1 || expires_in > tokenLifeSeconds) {
    throw new DomainError(
      'VALIDATION_ERROR',
      `The lifetime of a token must be 1 to ${tokenLifeSeconds} seconds.`,
    );
  }
  const agent = await findAgentByHandle(work, input.handle);
  const access_token = randomBytes(32).toString('base64url');
  const iat = Math.floor(work.now / 1000);
  const payload: TokenPayload = {
    kind: 'ClientCredentials',
    clientId: operatorClientId,
    aud: resource,
    scope: scopes.join(' '),
    iat,
    exp: iat + expires_in,
    extra: { sub: agent.id, handle: agent.canonical_handle },
  };
  work.changes.audit({
    act: 'token.issued',
    agent_id: agent.id,
    about: resource,
    detail: { scopes, expires_in },
  });
  await work.db.tokens.insert(toTokenRow(access_token, payload));
  return { access_token, token_type: 'Bearer' as const, expires_in };
}
