import { randomBytes } from 'node:crypto';
import { DomainError } from '../../domain/errors.ts';
import type { Scope } from '../../domain/auth/scopes.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { findAgentByHandle } from '../agents/find-by-handle.ts';
import { endTokens } from './revocations.ts';
import { sha256 } from './token-records.ts';
import type { Revocation } from './tokens.ts';

type Credentials = Pick<SystemWork, 'credentials'>;

/** A confidential client of an agent, as people see it: without what proves it. Times in milliseconds. */
export type Credential = ReturnType<typeof toCredential>;

/** Active credentials that one agent may have. */
export const maxCredentials = 100;

const clientIdPattern = /^ams_[0-9a-f]{24}$/;

export interface CreateCredential {
  handle: string;
  scopes: readonly Scope[];
  /** What its people call it. */
  name?: string;
  /** Names this very request, if it could come twice: a text that nobody else uses for this agent. */
  once?: string;
}

/**
 * Makes a confidential client that acts as one agent (client credentials, RFC 6749, section 4.4).
 * @returns its secret among the rest: the only time that it is shown, and only its hash is kept.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE; FORBIDDEN when the agent has 100 already; INVALID_TRANSITION when it was
 * made by the same request before: its secret cannot be shown again.
 */
export async function createCredential(work: SystemWork, input: CreateCredential) {
  const { scopes, name = '', once } = input;
  const agent = await findAgentByHandle(work, input.handle);
  const id = once === undefined ? randomBytes(12) : sha256(`${agent.id} ${once}`).subarray(0, 12);
  const client_id = `ams_${id.toString('hex')}`;
  if (once !== undefined && (await work.credentials.findOfAgent(agent.id, client_id))) throw alreadyCreated();
  if ((await work.credentials.countActive(agent.id)) >= maxCredentials) {
    throw new DomainError(
      'FORBIDDEN',
      `An agent has at most ${maxCredentials} credentials; revoke one first.`,
    );
  }
  const client_secret = randomBytes(32).toString('base64url');
  const credential = { client_id, agent_id: agent.id, name, scopes, created_at: work.now };
  const made = await work.credentials.insert({ ...credential, secret_hash: sha256(client_secret) });
  if (!made) throw alreadyCreated();
  work.audit({
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
    'This credential was made before, and its secret was shown then.',
  );
}

/**
 * The credentials of an agent, revoked ones too, oldest first. Times in milliseconds.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_HANDLE
 */
export async function listCredentials(work: Pick<SystemWork, 'agents' | 'credentials'>, handle: string) {
  const agent = await findAgentByHandle(work, handle);
  return (await work.credentials.list(agent.id)).map(toCredential);
}

/**
 * The credentials of an agent that may sign in, or those that were revoked, newest first.
 * @param only `before` is the client_id behind which the list goes on.
 */
export async function listCredentialsPage(
  { credentials }: Credentials,
  agent_id: string,
  only: { active: boolean; before: string | null; limit: number },
): Promise<Credential[]> {
  const before = only.before !== null && clientIdPattern.test(only.before) ? only.before : null;
  return (await credentials.page(agent_id, { ...only, before })).map(toCredential);
}

/**
 * A credential of an agent, also one that was revoked.
 * @throws {DomainError} NOT_FOUND, also for another agent's
 */
export async function requireCredential(
  { credentials }: Credentials,
  agent_id: string,
  client_id: string,
): Promise<Credential> {
  const known = clientIdPattern.test(client_id);
  const found = known ? await credentials.findOfAgent(agent_id, client_id) : undefined;
  if (!found) throw new DomainError('NOT_FOUND', 'This agent has no such credential.');
  return toCredential(found);
}

function toCredential(row: Awaited<ReturnType<SystemWork['credentials']['list']>>[number]) {
  const { client_id, canonical_handle, name, scopes, created_at, last_used_at, revoked_at } = row;
  return {
    client_id,
    handle: canonical_handle,
    name: name || null,
    scopes,
    created_at,
    last_used_at,
    revoked_at,
  };
}

/**
 * Ends a credential and every token that it got.
 * @param agent_id whose it must be; without it anybody's.
 * @returns what to announce to running processes once it is committed.
 * @throws {DomainError} NOT_FOUND when there is no such credential or it was revoked before.
 */
export async function revokeCredential(
  work: SystemWork,
  client_id: string,
  agent_id: string | null = null,
): Promise<Revocation[]> {
  const revoked = await work.credentials.revoke(client_id, work.now, agent_id);
  if (revoked === undefined) {
    throw new DomainError('NOT_FOUND', `No active credential has the client_id ${client_id.slice(0, 80)}`);
  }
  work.audit({ act: 'credential.revoked', agent_id: revoked, about: client_id });
  return endTokens(work, { client_id });
}
