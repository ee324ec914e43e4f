import type { CredentialRow } from '../../repositories/auth/credentials.ts';
import { randomBytes } from 'node:crypto';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import { toOneLine } from '../../../packages/core/src/domain/visible-text.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { findAgentByHandle } from '../agents/find-by-handle.ts';
import { endTokens } from './revocations.ts';
import { sha256 } from './token-records.ts';
import type { Revocation } from './tokens.ts';

/** A confidential client of an agent, without its secret. Times in milliseconds. */
export type Credential = ReturnType<typeof toCredential>;

/** Maximum number of active credentials of an agent. */
export const maxCredentials = 100;

const clientIdPattern = /^ams_[0-9a-f]{24}$/;

export interface CreateCredential {
  handle: string;
  scopes: readonly Scope[];
  /** A label for people. */
  name?: string;
  /** Idempotency key of the request, unique for the agent. */
  once?: string;
}

/**
 * Creates a confidential client that acts as one agent (client credentials, RFC 6749, section 4.4).
 * @returns the credential with its secret. Only the hash is stored, so the secret cannot be shown again.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE; FORBIDDEN if the agent has 100 already; INVALID_TRANSITION if the same
 * request created it before
 */
export async function createCredential(work: SystemWork, input: CreateCredential) {
  const { scopes, once } = input;
  const name = toOneLine(input.name ?? '');
  const agent = await findAgentByHandle(work, input.handle);
  const id = once === undefined ? randomBytes(12) : sha256(`${agent.id} ${once}`).subarray(0, 12);
  const client_id = `ams_${id.toString('hex')}`;
  if (once !== undefined && (await work.db.credentials.findOfAgent(agent.id, client_id)))
    throw alreadyCreated();
  if ((await work.db.credentials.countActive(agent.id)) >= maxCredentials) {
    throw new DomainError(
      'FORBIDDEN',
      `An agent can have at most ${maxCredentials} credentials; revoke one first.`,
    );
  }
  const client_secret = randomBytes(32).toString('base64url');
  const credential = { client_id, agent_id: agent.id, name, scopes, created_at: work.now };
  const isNew = await work.db.credentials.insert({ ...credential, secret_hash: sha256(client_secret) });
  if (!isNew) throw alreadyCreated();
  work.changes.audit({
    act: 'credential.created',
    agent_id: agent.id,
    about: client_id,
    detail: { name: name || null, scopes },
  });
  return { client_id, client_secret, handle: agent.canonical_handle, scopes: [...scopes] };
}

function alreadyCreated(): DomainError {
  return new DomainError(
    'INVALID_TRANSITION',
    'This request has already created the credential, and its secret was shown then. Create another credential.',
  );
}

/**
 * Returns all credentials of an agent, including revoked ones, oldest first. Times in milliseconds.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE
 */
export async function listCredentials(work: ReadWork, handle: string) {
  const agent = await findAgentByHandle(work, handle);
  return (await work.db.credentials.list(agent.id)).map(toCredential);
}

/**
 * Returns the active or the revoked credentials of an agent, newest first.
 * @param filter `before`: the client_id after which the list continues.
 */
export async function listCredentialsPage(
  { db: { credentials } }: ReadWork,
  agent_id: string,
  filter: { active: boolean; before: string | null; limit: number },
): Promise<Credential[]> {
  const before = filter.before !== null && clientIdPattern.test(filter.before) ? filter.before : null;
  return (await credentials.page(agent_id, { ...filter, before })).map(toCredential);
}

/**
 * Returns a credential of an agent, active or revoked.
 * @throws {DomainError} NOT_FOUND, also for another agent's
 */
export async function requireCredential(
  { db: { credentials } }: ReadWork,
  agent_id: string,
  client_id: string,
): Promise<Credential> {
  const isValidId = clientIdPattern.test(client_id);
  const found = isValidId ? await credentials.findOfAgent(agent_id, client_id) : undefined;
  if (!found) throw new DomainError('NOT_FOUND', 'This agent has no such credential.');
  return toCredential(found);
}

/** How long the previous secret counts after a rotation. */
const previousSecretMs = 24 * 3_600_000;

export interface RotateCredential {
  client_id: string;
  /** The agent that it must belong to; null: any agent. */
  agent_id?: string | null;
  /** When it was last rotated (ms, or null), as the caller knows: a form that is sent twice rotates once. */
  seen?: number | null;
  /** The previous secret and its tokens end at once; otherwise it counts for 24 hours more. */
  end_previous: boolean;
}

/**
 * Replaces the secret of a credential.
 * @returns the new secret, which cannot be shown again; until when the previous one counts (ms, or null); and the revocations to publish
 * after the commit.
 * @throws {DomainError} NOT_FOUND if no such credential is active; INVALID_TRANSITION if it was rotated after `seen`
 */
export async function rotateCredential(
  work: SystemWork,
  { client_id, agent_id = null, seen, end_previous }: RotateCredential,
) {
  const client_secret = randomBytes(32).toString('base64url');
  const previous_secret_until = end_previous ? null : work.now + previousSecretMs;
  const rotation = { client_id, agent_id, previous_secret_until, now: work.now };
  const secret_hash = sha256(client_secret);
  const rotated = await work.db.credentials.rotate({ ...rotation, seen, secret_hash });
  if (rotated === undefined) {
    if (seen === undefined) throw noActiveCredential(client_id);
    throw new DomainError(
      'INVALID_TRANSITION',
      'The secret of this credential was rotated or revoked before. If you do not have the new secret, rotate it again.',
    );
  }
  work.changes.audit({
    act: 'credential.rotated',
    agent_id: rotated,
    about: client_id,
    detail: { end_previous },
  });
  const ended = end_previous ? await endTokens(work, { client_id }) : [];
  return { client_id, client_secret, previous_secret_until, ended };
}

function toCredential(row: CredentialRow) {
  const { client_id, canonical_handle, name, scopes, created_at, last_used_at, revoked_at } = row;
  const { rotated_at, previous_secret_until } = row;
  return {
    client_id,
    handle: canonical_handle,
    name: name || null,
    scopes,
    created_at,
    last_used_at,
    revoked_at,
    rotated_at,
    previous_secret_until,
  };
}

/**
 * Revokes a credential and all its tokens.
 * @param agent_id the agent that it must belong to; null for any agent.
 * @returns the revocations to publish after the commit.
 * @throws {DomainError} NOT_FOUND if it does not exist or was revoked before
 */
export async function revokeCredential(
  work: SystemWork,
  client_id: string,
  agent_id: string | null = null,
): Promise<Revocation[]> {
  const revoked = await work.db.credentials.revoke(client_id, work.now, agent_id);
  if (revoked === undefined) throw noActiveCredential(client_id);
  work.changes.audit({ act: 'credential.revoked', agent_id: revoked, about: client_id });
  return endTokens(work, { client_id });
}

function noActiveCredential(client_id: string): DomainError {
  return new DomainError('NOT_FOUND', `No active credential has the client_id ${client_id.slice(0, 80)}.`);
}
