import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { invitationClientId } from '../../../packages/core/src/domain/remote.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { ListedRemoteAgentRow } from '../../repositories/remote/agents.ts';
import type { ReadWork, SystemWork, Work } from '../../work/unit-of-work.ts';
import { agentNotFound, parseAgentKey, requireAgent } from '../access.ts';

const confirmedRetryAfterSeconds = 60;

/**
 * Checks a caller that has the token of an invitation.
 * @throws {DomainError} FORBIDDEN if no person has confirmed it
 */
export async function requireConfirmed({ remoteAgents }: ReadWork['db'], actor: Actor): Promise<void> {
  if (actor.client_id !== invitationClientId || (await remoteAgents.isReady(actor.agent_id))) return;
  const message = 'A person of this installation must confirm your agent first. Try again later.';
  throw new DomainError('FORBIDDEN', message, { retry_after: confirmedRetryAfterSeconds });
}

/** An agent of another system, with its columns of `agents`. */
export type RemoteAgent = ListedRemoteAgentRow;

/**
 * Returns the settings of remote agents.
 * @throws {DomainError} NOT_FOUND, as for an unknown address, if this service has no remote agents
 */
export function requireRemoteSettings({ settings: { remote } }: ReadWork) {
  if (!remote) throw new DomainError('NOT_FOUND', 'This service has no agents of other systems.');
  return remote;
}

/**
 * Returns a remote agent by id or handle that the owner of the actor has added, or that the actor manages.
 * @throws {DomainError} AGENT_NOT_FOUND, the same for an absent agent, for one of this service and for one of other owners; INVALID_HANDLE,
 * NOT_FOUND
 */
export async function requireRemoteAgent(work: Work, ref: string): Promise<RemoteAgent> {
  return (await findRemoteAgent(work, ref)).agent;
}

async function findRemoteAgent(work: Work, ref: string) {
  requireRemoteSettings(work);
  const { id, managed, same_owner, same_organization } = await requireAgent(work, parseAgentKey(ref));
  const agent = managed || same_owner || same_organization ? await work.db.remoteAgents.find(id) : undefined;
  if (!agent) throw agentNotFound();
  return { agent, managed };
}

/**
 * Returns a remote agent that the actor manages, locked until the transaction ends.
 * @throws {DomainError} as requireRemoteAgent, and FORBIDDEN if the actor sees but does not manage it
 */
export async function lockManagedRemoteAgent(work: Work, ref: string): Promise<RemoteAgent> {
  const { agent, managed } = await findRemoteAgent(work, ref);
  if (!managed) throw new DomainError('FORBIDDEN', 'You do not manage this agent.');
  return lockRemoteAgent(work, agent.agent_id);
}

/** @throws {DomainError} AGENT_NOT_FOUND */
async function lockRemoteAgent(work: SystemWork, agent_id: string): Promise<RemoteAgent> {
  const agent = (await work.db.agents.lock(agent_id)) && (await work.db.remoteAgents.lock(agent_id));
  if (!agent) throw agentNotFound();
  return agent;
}

/**
 * Returns a remote agent that a person owns or administers.
 * @throws {DomainError} AGENT_NOT_FOUND, also for agents of others; NOT_FOUND
 */
export async function requireRemoteAgentOfPerson(
  work: ReadWork,
  account_id: string,
  agent_id: string,
): Promise<RemoteAgent> {
  requireRemoteSettings(work);
  const agent = isId('agent', agent_id)
    ? await work.db.remoteAgents.findOfPerson(account_id, agent_id)
    : undefined;
  if (!agent) throw agentNotFound();
  return agent;
}

/**
 * The same, locked until the transaction ends.
 * @throws {DomainError} as requireRemoteAgentOfPerson
 */
export async function lockRemoteAgentOfPerson(
  work: SystemWork,
  account_id: string,
  agent_id: string,
): Promise<RemoteAgent> {
  await requireRemoteAgentOfPerson(work, account_id, agent_id);
  return lockRemoteAgent(work, agent_id);
}
