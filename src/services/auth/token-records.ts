import { createHash } from 'node:crypto';
import { z } from 'zod';

/** Returns the SHA-256 under which tokens, secrets and ids of OAuth records are stored. */
export function sha256(secret: string): Buffer {
  return createHash('sha256').update(secret).digest();
}

/** An access token as oidc-provider stores it; times in seconds since the epoch. */
const tokenPayload = z.looseObject({
  kind: z.enum(['AccessToken', 'ClientCredentials']),
  clientId: z.string(),
  /** The resource URL that it is for. */
  aud: z.string(),
  scope: z.string().default(''),
  iat: z.int(),
  exp: z.int(),
  grantId: z.string().optional(),
  /** The agent that the token acts as; shown by introspection (RFC 7662). */
  extra: z.looseObject({ sub: z.string(), handle: z.string() }),
});

export type TokenPayload = z.input<typeof tokenPayload>;

/** Returns the row for an access token. @throws if the payload is not that of an access token bound to an agent */
export function toTokenRow(token: string, payload: unknown, secret_hash: Buffer | null = null) {
  const parsed = tokenPayload.parse(payload);
  // `jti` is the token itself.
  const { jti: _token, ...kept } = parsed;
  return {
    token_hash: sha256(token),
    agent_id: parsed.extra.sub,
    client_id: parsed.clientId,
    grant_id: parsed.grantId ?? null,
    secret_hash,
    resource: parsed.aud,
    scopes: parsed.scope.split(' ').filter((scope) => scope !== ''),
    payload: kept,
    created_at: parsed.iat * 1000,
    expires_at: parsed.exp * 1000,
  };
}
