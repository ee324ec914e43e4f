import { randomBytes } from 'node:crypto';
import { a2aBaseUrl, a2aCardUrl } from '../../../packages/core/src/domain/a2a.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { invitationClientId, remoteInvitationMs } from '../../../packages/core/src/domain/remote.ts';
import type { AgentRow } from '../../repositories/agents/agents.ts';
import type { PrincipalRow } from '../../repositories/agents/managed-agents.ts';
import type { LockedInvitationRow } from '../../repositories/remote/invitations.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { requireManagedAgent } from '../access.ts';
import { retiredActor } from '../actor-checks.ts';
import { sha256, toTokenRow } from '../auth/token-records.ts';
import { requirePrincipal } from '../people/agents.ts';
import { type RemoteAgent, requireRemoteSettings } from './access.ts';
import { chooseName, insertRemoteAgent, parseCardUrl, toHandleName } from './agents.ts';

const segment = '/a2a/-/invitations/';

/** A new invitation, with its address, which is not stored. */
export interface NewInvitation {
  id: string;
  address: string;
  expires_at: number;
}

/**
 * Creates an invitation of an agent. @param created_by the account; null: an operator.
 * @throws {DomainError} NOT_FOUND
 */
export async function createRemoteInvitation(
  work: SystemWork,
  agent_id: string,
  created_by: string | null,
): Promise<NewInvitation> {
  requireRemoteSettings(work);
  const secret = randomBytes(32).toString('base64url');
  const id = newId('remoteInvitation');
  const expires_at = work.now + remoteInvitationMs;
  const invitation = { id, agent_id, created_by, created_at: work.now, expires_at };
  await work.db.remoteInvitations.insert({ ...invitation, secret_hash: sha256(secret) });
  work.changes.audit({ act: 'remote_invitation.created', agent_id, about: id });
  return { id, address: `${work.settings.publicUrl}${segment}${secret}`, expires_at };
}

/** What one installation tells the other: the address of the card of its agent, and the token for calls of that agent. */
export interface Introduction {
  card_url: string;
  token: string;
}

/** The same for every address that cannot be redeemed. */
function notRedeemable(): DomainError {
  return new DomainError('NOT_FOUND', 'This invitation is unknown, has expired, or was used.');
}

/**
 * Redeems an invitation: adds the agent of the other installation, which then waits for a person. The same request gets the same answer
 * again, because an answer can be lost.
 * @throws {DomainError} NOT_FOUND, VALIDATION_ERROR
 */
export async function redeemRemoteInvitation(
  work: SystemWork,
  secret: string,
  redeemer: Introduction,
): Promise<Introduction> {
  const card_url = parseCardUrl(work, redeemer.card_url);
  const invitation = await work.db.remoteInvitations.lock(sha256(secret));
  if (!invitation || invitation.expires_at <= work.now) throw notRedeemable();
  const { id, agent_id, canonical_handle } = invitation;
  const { publicUrl, sealedBox } = work.settings;
  const redeemer_hash = sha256(JSON.stringify([card_url, redeemer.token]));
  const answer = { card_url: a2aCardUrl(publicUrl, canonical_handle) };
  if (invitation.redeemer_hash && invitation.token) {
    if (!invitation.redeemer_hash.equals(redeemer_hash)) throw notRedeemable();
    return { ...answer, token: sealedBox.open(invitation.token, id) };
  }
  const remote = await addRedeemer(work, invitation, { ...redeemer, card_url });
  const token = newToken();
  await issueToken(work, remote, canonical_handle, token);
  await work.db.remoteInvitations.setRedeemed({
    id,
    redeemer_hash,
    remote_id: remote.agent_id,
    token: sealedBox.seal(token, id),
    redeemed_at: work.now,
  });
  work.changes.audit({
    act: 'remote_invitation.redeemed',
    agent_id,
    about: id,
    detail: { remote: remote.canonical_handle, host: new URL(card_url).host },
  });
  return { ...answer, token };
}

/** @throws {DomainError} NOT_FOUND in place of any other refusal; the error itself unless it is one */
function asRefusal(error: unknown): never {
  throw error instanceof DomainError && error.status < 500 ? notRedeemable() : error;
}

/** @throws {DomainError} NOT_FOUND if who created the invitation could not add the agent now */
async function addRedeemer(
  work: SystemWork,
  { agent_id, canonical_handle, created_by, organization }: LockedInvitationRow,
  { card_url, token }: Introduction,
): Promise<RemoteAgent> {
  const principal =
    created_by === null
      ? await work.db.managedAgents.findPrincipal(agent_id)
      : await requirePrincipal(work, created_by).catch(asRefusal);
  if (!principal) throw notRedeemable();
  const [, owner = '', name = ''] = /\/a2a\/([^/]+)\/([^/]+)\//.exec(card_url) ?? [];
  const [owner_name = ''] = canonical_handle.split('.');
  try {
    return await insertRemoteAgent(work, principal, {
      name: await chooseName(work, owner_name, name === '' ? toHandleName(card_url) : `${owner}-${name}`),
      organization: organization ?? undefined,
      card_url,
      credential: { kind: 'invitation', token, request: null },
      bound_id: agent_id,
    });
  } catch (error) {
    return asRefusal(error);
  }
}

export interface AcceptInvitation {
  invitation: string;
  /** The part of the handle after the dot. */
  handle?: string | undefined;
}

/** An agent here that accepts an invitation. */
type InvitedAgent = Pick<AgentRow, 'id' | 'canonical_handle' | 'scope'>;

/**
 * Adds, for a principal, the agent that another installation invites one of its agents to talk with. A worker redeems the invitation a moment
 * later. The principal must manage the agent.
 * @throws {DomainError} VALIDATION_ERROR, FORBIDDEN, NOT_FOUND, DUPLICATE_HANDLE
 */
export async function acceptInvitationFor(
  work: SystemWork,
  principal: PrincipalRow,
  { id: bound_id, canonical_handle, scope }: InvitedAgent,
  { invitation, handle }: AcceptInvitation,
): Promise<RemoteAgent> {
  const { origin } = parseInvitation(work, invitation);
  const [owner_name = ''] = canonical_handle.split('.');
  const token = newToken();
  const remote = await insertRemoteAgent(work, principal, {
    name: handle ?? (await chooseName(work, owner_name, toHandleName(invitation))),
    organization: scope === 'personal' ? undefined : owner_name,
    // That of the card is known after the other installation has answered.
    card_url: `${origin}/`,
    credential: { kind: 'invitation', token: null, request: { url: invitation, token } },
    bound_id,
  });
  await issueToken(work, remote, canonical_handle, token);
  return remote;
}

/**
 * Accepts an invitation for an agent that the actor manages.
 * @throws {DomainError} as acceptInvitationFor and requireManagedAgent, and UNAUTHORIZED
 */
export async function acceptInvitation(
  work: Work,
  { agent, ...input }: AcceptInvitation & { agent: string },
): Promise<RemoteAgent> {
  requireRemoteSettings(work);
  const principal = await work.db.managedAgents.findPrincipal(work.actor.agent_id);
  if (!principal) throw retiredActor();
  return acceptInvitationFor(work, principal, await requireManagedAgent(work, agent), input);
}

/** @throws {DomainError} VALIDATION_ERROR, NOT_FOUND */
function parseInvitation(work: SystemWork, text: string): URL {
  const problem = requireRemoteSettings(work).checkUrl(text);
  if (problem !== undefined) throw wrongField('invitation', problem);
  const url = new URL(text);
  if (!/\/a2a\/-\/invitations\/[^/]+$/.test(url.pathname))
    throw wrongField('invitation', 'is not the address of an invitation');
  if (text.startsWith(`${work.settings.publicUrl}/`))
    throw wrongField('invitation', 'is of this service; write to the agent by its handle');
  return url;
}

const newToken = (): string => randomBytes(32).toString('base64url');
const tokenYears = 100;

/** Issues the token with which a remote agent calls one agent here. It ends when the remote agent is removed. */
async function issueToken(
  work: SystemWork,
  { agent_id: sub, canonical_handle: handle }: RemoteAgent,
  bound_handle: string,
  token: string,
): Promise<void> {
  const iat = Math.floor(work.now / 1_000);
  const payload = {
    kind: 'ClientCredentials' as const,
    clientId: invitationClientId,
    aud: a2aBaseUrl(work.settings.publicUrl, bound_handle),
    scope: 'agents:read threads:read threads:write',
    iat,
    exp: iat + tokenYears * 365 * 24 * 3_600,
    extra: { sub, handle },
  };
  await work.db.tokens.insert(toTokenRow(token, payload));
}
