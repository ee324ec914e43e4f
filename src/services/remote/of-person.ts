import type { SystemWork, ReadWork } from '../../work/unit-of-work.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { RemoteInvitationRow } from '../../repositories/remote/invitations.ts';
import { requireAgentOfPerson, requirePrincipal } from '../people/agents.ts';
import { lockRemoteAgentOfPerson, type RemoteAgent, requireRemoteSettings } from './access.ts';
import {
  type AddRemoteAgent,
  addRemoteAgentFor,
  confirmRemoteAgent,
  refreshRemoteAgent,
  removeRemoteAgent,
  updateRemoteAgent,
} from './agents.ts';
import {
  type AcceptInvitation,
  acceptInvitationFor,
  createRemoteInvitation,
  type NewInvitation,
} from './invitations.ts';

/** A remote agent that a person owns or administers. */
interface OfPerson {
  account_id: string;
  agent_id: string;
}

/**
 * Returns the remote agents that a person owns or administers, by handle; at most `limit` after the handle `after`.
 * @throws {DomainError} NOT_FOUND if the service has none
 */
export async function listRemoteAgentsOfPerson(
  work: ReadWork,
  account_id: string,
  { after, limit }: { after: string; limit: number },
): Promise<RemoteAgent[]> {
  requireRemoteSettings(work);
  return work.db.remoteAgents.listOfPerson(account_id, after, limit);
}

/** Adds a remote agent for a person, or for an organization of which the person is an admin. @throws {DomainError} as addRemoteAgentFor */
export async function addRemoteAgentForPerson(work: SystemWork, account_id: string, input: AddRemoteAgent) {
  return addRemoteAgentFor(work, await requirePrincipal(work, account_id), input);
}

/** A change by a person, who must own or administer the agent. @throws {DomainError} AGENT_NOT_FOUND, and those of the change */
const forPerson =
  <Input extends unknown[]>(
    change: (work: SystemWork, agent: RemoteAgent, ...input: Input) => Promise<unknown>,
  ) =>
  async (work: SystemWork, { account_id, agent_id }: OfPerson, ...input: Input): Promise<void> =>
    void (await change(work, await lockRemoteAgentOfPerson(work, account_id, agent_id), ...input));

export const confirmForPerson = forPerson(confirmRemoteAgent);
export const refreshForPerson = forPerson(refreshRemoteAgent);
export const updateForPerson = forPerson(updateRemoteAgent);
export const removeForPerson = forPerson(removeRemoteAgent);

const maxInvitations = 100;

/** Returns the open invitations of the agents that a person owns or administers, newest first; at most 100. */
export async function listInvitationsOfPerson(
  work: ReadWork,
  account_id: string,
): Promise<RemoteInvitationRow[]> {
  requireRemoteSettings(work);
  return work.db.remoteInvitations.listOpenOfPerson(account_id, work.now, maxInvitations);
}

/** Invites an agent of another installation to talk with one of the person's. @throws {DomainError} AGENT_NOT_FOUND, FORBIDDEN */
export async function inviteForPerson(
  work: SystemWork,
  { account_id, agent_id }: OfPerson,
): Promise<NewInvitation> {
  const { owner_id, owner_name } = await requireAgentOfPerson(work, account_id, agent_id, 'manages');
  const membership =
    owner_id === account_id ? undefined : await work.db.memberships.find(account_id, owner_name);
  if (membership && membership.role !== 'admin') {
    throw new DomainError(
      'FORBIDDEN',
      `Only admins of ${owner_name} can add agents of other systems for it.`,
    );
  }
  return createRemoteInvitation(work, agent_id, account_id);
}

/** Ends an invitation that was not redeemed. @throws {DomainError} NOT_FOUND */
export async function endInvitationForPerson(
  work: SystemWork,
  account_id: string,
  id: string,
): Promise<void> {
  const agent_id = await work.db.remoteInvitations.removeOfPerson(account_id, id);
  if (agent_id === undefined)
    throw new DomainError('NOT_FOUND', 'This invitation has ended, or the other side has redeemed it.');
  work.changes.audit({ act: 'remote_invitation.ended', agent_id, about: id });
}

/** Accepts an invitation for an agent that the person manages. @throws {DomainError} AGENT_NOT_FOUND, and as acceptInvitationFor */
export async function acceptInvitationForPerson(
  work: SystemWork,
  { account_id, agent_id }: OfPerson,
  input: AcceptInvitation,
): Promise<RemoteAgent> {
  const agent = await requireAgentOfPerson(work, account_id, agent_id, 'manages');
  return acceptInvitationFor(work, await requirePrincipal(work, account_id), agent, input);
}
