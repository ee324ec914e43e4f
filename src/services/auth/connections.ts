import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Scope } from '../../../packages/core/src/domain/auth/scopes.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import { agentNotFound } from '../access.ts';
import { endTokens } from './revocations.ts';
import type { Revocation } from './tokens.ts';
import { abandonWebhooks } from '../webhooks/access.ts';

const grantIdPattern = /^[\w-]{1,100}$/;

/** Time within which a client must request its first token. */
const firstTokenTimeoutMs = 600_000;

export interface NewConnection {
  grant_id: string;
  account_id: string;
  agent_id: string;
  client_id: string;
  /** As declared by the client. */
  client_name: string | null;
  redirect_host: string;
  scopes: readonly Scope[];
}

/**
 * Records that a person lets a client act as an agent. Codes and tokens of the grant end with it.
 * @throws {DomainError} AGENT_NOT_FOUND if the person cannot act as the agent
 */
export async function recordConnection(
  { db: { clientGrants }, changes: { audit }, now }: SystemWork,
  connection: NewConnection,
): Promise<void> {
  const { account_id, agent_id, client_id, scopes, grant_id } = connection;
  const grant = { ...connection, created_at: now, expires_at: now + firstTokenTimeoutMs };
  if (!(await clientGrants.insert(grant))) throw agentNotFound();
  audit({ act: 'connection.granted', agent_id, account_id, about: client_id, detail: { grant_id, scopes } });
}

/** A client that a person connected. Times in milliseconds. */
export type Connection = Awaited<ReturnType<typeof listConnections>>[number];

/** Returns the clients that a person connected, newest first, at most `limit`, from before the position `before`. */
export async function listConnections(
  { db: { clientGrants } }: ReadWork,
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

/** Returns the ids of the agents as which this client can already act for a person with at least these scopes, latest first. */
export function listApprovedAgents(
  { db: { clientGrants } }: ReadWork,
  account_id: string,
  client_id: string,
  scopes: readonly Scope[],
): Promise<string[]> {
  return clientGrants.listAgents(account_id, client_id, scopes, Date.now());
}

/**
 * Ends a connection of a person, with its codes and tokens.
 * @returns the revocations to publish after the commit.
 * @throws {DomainError} NOT_FOUND if the person has no such connection
 */
export async function endConnection(
  work: SystemWork,
  account_id: string,
  grant_id: string,
): Promise<Revocation[]> {
  const isValidId = grantIdPattern.test(grant_id);
  const removed = isValidId ? await work.db.clientGrants.removeOfAccount(account_id, grant_id) : undefined;
  if (!removed) throw new DomainError('NOT_FOUND', 'No such connection; it may have ended already.');
  auditEnd(work, grant_id, removed);
  return endGrants(work, [grant_id]);
}

/** Ends a grant of any person: its code or refresh token was used twice, or its client revoked it. Returns as endConnection. */
export async function endGrant(work: SystemWork, grant_id: string): Promise<Revocation[]> {
  const removed = await work.db.clientGrants.remove(grant_id);
  if (removed) auditEnd(work, grant_id, removed);
  return endGrants(work, [grant_id]);
}

function auditEnd(
  { changes: { audit } }: SystemWork,
  grant_id: string,
  { account_id, agent_id, client_id }: Pick<NewConnection, 'account_id' | 'agent_id' | 'client_id'>,
): void {
  audit({ act: 'connection.ended', agent_id, account_id, about: client_id, detail: { grant_id } });
}

/** Ends connections whose person can no longer act as their agent, of one account or of all. Returns as endConnection. */
export async function endConnectionsBeyondRights(
  work: SystemWork,
  account_id?: string,
): Promise<Revocation[]> {
  return endGrants(work, await work.db.clientGrants.removeBeyondRights(account_id ?? null));
}

/**
 * Ends the access of a person who left an organization: connections, and the credentials, webhooks and push configs of agents that belong
 * to this member, because only this person knows their secrets. Removes the items of which the person was notified. Returns as endConnection.
 */
export async function endAccessOfMember(
  work: SystemWork,
  organization_id: string,
  account_id: string,
): Promise<Revocation[]> {
  const ended = await endConnectionsBeyondRights(work, account_id);
  // The person chose the URLs of both.
  await abandonWebhooks(work, await work.db.webhooks.removeOfMember(organization_id, account_id));
  await work.db.pushConfigs.removeOfMember(organization_id, account_id);
  await work.db.notificationMessages.removeBeyondRights(account_id);
  for (const client_id of await work.db.credentials.revokeOfMember(organization_id, account_id, work.now)) {
    ended.push(...(await endTokens(work, { client_id })));
  }
  return ended;
}

/**
 * Ends all connections of a person.
 * @returns their number, and the revocations to publish after the commit.
 */
export async function endConnectionsOfAccount(
  work: SystemWork,
  account_id: string,
): Promise<{ grants: number; ended: Revocation[] }> {
  const grants = await work.db.clientGrants.removeAllOfAccount(account_id);
  return { grants: grants.length, ended: await endGrants(work, grants) };
}

/** Ends the connections of an agent that retires; the caller ends its tokens. */
export async function endConnectionsOfAgent(work: ReadWork, agent_id: string): Promise<void> {
  for (const grant_id of await work.db.clientGrants.removeOfAgent(agent_id)) {
    await work.db.oauthRecords.removeOfGrant(grant_id);
  }
}

async function endGrants(work: SystemWork, grantIds: readonly string[]): Promise<Revocation[]> {
  const ended: Revocation[] = [];
  for (const grant_id of grantIds) {
    await work.db.oauthRecords.removeOfGrant(grant_id);
    ended.push(...(await endTokens(work, { grant_id })));
  }
  return ended;
}
