import type { SystemWork, ReadWork } from '../../work/unit-of-work.ts';
import { requirePrincipal } from '../people/agents.ts';
import { lockRemoteAgentOfPerson, type RemoteAgent, requireRemoteSettings } from './access.ts';
import {
  type AddRemoteAgent,
  addRemoteAgentFor,
  confirmRemoteAgent,
  refreshRemoteAgent,
  type RemoteAgentChanges,
  removeRemoteAgent,
  updateRemoteAgent,
} from './agents.ts';

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

/** Confirms what the card says. @throws {DomainError} AGENT_NOT_FOUND, INVALID_TRANSITION */
export async function confirmForPerson(
  work: SystemWork,
  { account_id, agent_id }: OfPerson,
  fingerprint: string,
): Promise<void> {
  await confirmRemoteAgent(work, await lockRemoteAgentOfPerson(work, account_id, agent_id), fingerprint);
}

/** Has the card read again. @throws {DomainError} AGENT_NOT_FOUND */
export async function refreshForPerson(work: SystemWork, { account_id, agent_id }: OfPerson): Promise<void> {
  await refreshRemoteAgent(work, await lockRemoteAgentOfPerson(work, account_id, agent_id));
}

/** Changes the name or the credential. @throws {DomainError} AGENT_NOT_FOUND, VALIDATION_ERROR */
export async function updateForPerson(
  work: SystemWork,
  { account_id, agent_id }: OfPerson,
  changes: RemoteAgentChanges,
): Promise<void> {
  await updateRemoteAgent(work, await lockRemoteAgentOfPerson(work, account_id, agent_id), changes);
}

/** Removes the agent. @throws {DomainError} AGENT_NOT_FOUND */
export async function removeForPerson(work: SystemWork, { account_id, agent_id }: OfPerson): Promise<void> {
  await removeRemoteAgent(work, await lockRemoteAgentOfPerson(work, account_id, agent_id));
}
