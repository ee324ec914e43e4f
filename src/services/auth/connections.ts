import { DomainError } from '../../domain/errors.ts';
import type { Scope } from '../../domain/auth/scopes.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { agentNotFound } from '../access.ts';
import { endTokens } from './revocations.ts';
import type { Revocation } from './tokens.ts';
import { removeWebhooksOfMember } from '../webhooks/access.ts';

type Grants = Pick<SystemWork, 'clientGrants'>;
type GrantRepositories = Pick<SystemWork, 'clientGrants' | 'oauthRecords' | 'tokens'>;

const grantIdPattern = /^[\w-]{1,100}$/;

/** Milliseconds in which a client must have come for its first token. */
const firstTokenTimeoutMs = 600_000;

export interface NewConnection {
  grant_id: string;
  account_id: string;
  agent_id: string;
  client_id: string;
  /** As the client calls itself. */
  client_name: string | null;
  redirect_host: string;
  scopes: readonly Scope[];
}

/**
 * Notes that a person lets a client act as an agent. Codes and tokens of this grant are good while it stands.
 * @throws {DomainError} AGENT_NOT_FOUND when the person may not act as the agent
 */
export async function recordConnection(
  { clientGrants, now, audit }: Pick<SystemWork, 'clientGrants' | 'now' | 'audit'>,
  connection: NewConnection,
): Promise<void> {
  const { account_id, agent_id, client_id, scopes, grant_id } = connection;
  const grant = { ...connection, created_at: now, expires_at: now + firstTokenTimeoutMs };
  if (!(await clientGrants.insert(grant))) throw agentNotFound();
  audit({ act: 'connection.granted', agent_id, account_id, about: client_id, detail: { grant_id, scopes } });
}

/** A client that a person has connected. Times in milliseconds. */
export type Connection = Awaited<ReturnType<typeof listConnections>>[number];

/** The clients that a person has connected, newest first; at most `limit`, behind the one that `before` tells. */
export async function listConnections(
  { clientGrants }: Grants,
  account_id: string,
  {
    before = null,
    limit = 500,
  }: { before?: { created_at: number; grant_id: string } | null; limit?: number } = {},
) {
  const rows = await clientGrants.list(account_id, Date.now(), { before, limit });
  return rows.map(({ account_id: _account, canonical_handle, ...row }) => ({
    ...row,
    handle: canonical_handle,
  }));
}

/** Ids of the agents as which a person lets this client act already, with these scopes at least; the latest first. */
export function listApprovedAgents(
  { clientGrants }: Grants,
  account_id: string,
  client_id: string,
  scopes: readonly Scope[],
): Promise<string[]> {
  return clientGrants.listAgents(account_id, client_id, scopes, Date.now());
}

/**
 * Ends a connection of a person with everything that the client got by it.
 * @returns what to announce to running processes once it is committed.
 * @throws {DomainError} NOT_FOUND when the person has no such connection
 */
export async function endConnection(
  work: GrantRepositories & Pick<SystemWork, 'audit'>,
  account_id: string,
  grant_id: string,
): Promise<Revocation[]> {
  const known = grantIdPattern.test(grant_id);
  const ended = known ? await work.clientGrants.removeOfAccount(account_id, grant_id) : [];
  if (ended.length === 0)
    throw new DomainError('NOT_FOUND', 'There is no such connection; it may have ended.');
  work.audit({ act: 'connection.ended', account_id, about: grant_id });
  return endGrants(work, ended);
}

/** Ends a grant, whosever it is: its code or refresh token was used twice, or its client gave it back. Returns as endConnection. */
export async function endGrant(
  work: GrantRepositories & Pick<SystemWork, 'audit'>,
  grant_id: string,
): Promise<Revocation[]> {
  const gone = await work.clientGrants.remove(grant_id);
  if (gone.length > 0) work.audit({ act: 'connection.ended', about: grant_id });
  return endGrants(work, [grant_id]);
}

/**
 * Ends the connections whose person no longer acts as their agent; of one account, or of all. A step of what takes rights away.
 * Returns as endConnection.
 */
export async function endConnectionsBeyondRights(
  work: GrantRepositories,
  account_id?: string,
): Promise<Revocation[]> {
  return endGrants(work, await work.clientGrants.removeBeyondRights(account_id ?? null));
}

/**
 * Ends what lets somebody who has left an organization go on there: connections, and the credentials and webhooks of agents that are
 * tied to the person, whose secrets nobody else knows and as which nobody acts any more. A step. Returns as endConnection.
 */
export async function endAccessOfMember(
  work: GrantRepositories & Pick<SystemWork, 'credentials' | 'webhooks' | 'webhookDeliveries' | 'now'>,
  organization_id: string,
  account_id: string,
): Promise<Revocation[]> {
  const ended = await endConnectionsBeyondRights(work, account_id);
  await removeWebhooksOfMember(work, organization_id, account_id);
  for (const client_id of await work.credentials.revokeOfMember(organization_id, account_id, work.now)) {
    ended.push(...(await endTokens(work, { client_id })));
  }
  return ended;
}

/**
 * Ends every connection of a person. A step.
 * @returns how many there were, and what to announce to running processes once it is committed.
 */
export async function endConnectionsOfAccount(
  work: GrantRepositories,
  account_id: string,
): Promise<{ grants: number; ended: Revocation[] }> {
  const grants = await work.clientGrants.removeAllOfAccount(account_id);
  return { grants: grants.length, ended: await endGrants(work, grants) };
}

/** Ends the connections of an agent that retires; its tokens end with the agent. A step. */
export async function endConnectionsOfAgent(work: GrantRepositories, agent_id: string): Promise<void> {
  for (const grant_id of await work.clientGrants.removeOfAgent(agent_id)) {
    await work.oauthRecords.removeOfGrant(grant_id);
  }
}

async function endGrants(work: GrantRepositories, grantIds: readonly string[]): Promise<Revocation[]> {
  const ended: Revocation[] = [];
  for (const grant_id of grantIds) {
    await work.oauthRecords.removeOfGrant(grant_id);
    ended.push(...(await endTokens(work, { grant_id })));
  }
  return ended;
}
