import { randomBytes } from 'node:crypto';
import { DomainError } from '../domain/errors.ts';
import type { Scope } from '../domain/scopes.ts';
import type { Administration } from '../unit-of-work.ts';
import { agentByHandle } from './agent-by-handle.ts';
import { endTokens } from './revocations.ts';
import { sha256 } from './token-records.ts';
import type { Revocation } from './tokens.ts';

/**
 * Makes a confidential client that acts as one agent (client credentials, RFC 6749, section 4.4).
 * @returns its secret among the rest: the only time that it is shown, and only its hash is kept.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE
 */
export async function createCredential(
  work: Administration,
  input: { handle: string; scopes: readonly Scope[] },
) {
  const agent = await agentByHandle(work, input.handle);
  const client_id = `ams_${randomBytes(12).toString('hex')}`;
  const client_secret = randomBytes(32).toString('base64url');
  const credential = { client_id, agent_id: agent.id, scopes: input.scopes, created_at: work.now };
  await work.credentials.insert({ ...credential, secret_hash: sha256(client_secret) });
  return { client_id, client_secret, handle: agent.canonical_handle, scopes: [...input.scopes] };
}

/**
 * The credentials of an agent, revoked ones too, oldest first. Times in milliseconds.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE
 */
export async function listCredentials(work: Pick<Administration, 'agents' | 'credentials'>, handle: string) {
  const agent = await agentByHandle(work, handle);
  const rows = await work.credentials.list(agent.id);
  return rows.map(({ client_id, canonical_handle, scopes, created_at, last_used_at, revoked_at }) => ({
    client_id,
    handle: canonical_handle,
    scopes,
    created_at,
    last_used_at,
    revoked_at,
  }));
}

/**
 * Ends a credential and every token that it got.
 * @param agent_id whose it must be; without it anybody's.
 * @returns what to announce to running processes once it is committed.
 * @throws {DomainError} NOT_FOUND when there is no such credential or it was revoked before.
 */
export async function revokeCredential(
  work: Administration,
  client_id: string,
  agent_id: string | null = null,
): Promise<Revocation[]> {
  if (!(await work.credentials.revoke(client_id, work.now, agent_id))) {
    throw new DomainError('NOT_FOUND', `No active credential has the client_id ${client_id.slice(0, 80)}`);
  }
  return endTokens(work, { client_id });
}
