import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { endConnectionsOfAgent } from '../auth/connections.ts';
import { endTokens, revocationMessages } from '../auth/revocations.ts';
import { removeInboxOf } from '../inbox/end-leases.ts';
import { endTasksOfAgent } from '../tasks/transitions.ts';
import { endWatchLinksOfAgent } from '../threads/watch-links.ts';
import { abandonWebhooks } from '../webhooks/access.ts';
import { requireManagedAgent } from '../access.ts';

/** Retires an agent and ends all access to it. The caller checks permission. */
export async function retire(
  work: SystemWork,
  { id, canonical_handle }: { id: string; canonical_handle: string },
): Promise<void> {
  // First the threads, then their tasks.
  await endWatchLinksOfAgent(work, id);
  await work.db.remoteInvitations.removeOfAgent(id);
  // The agents of other installations that talk with it alone.
  for (const remote of await work.db.remoteAgents.listBound(id)) await retireRemote(work, remote);
  await endTasksOfAgent(work, id);
  await work.db.agents.retire(id, work.now);
  work.changes.audit({ act: 'agent.retired', agent_id: id });
  // One event for all contacts.
  await work.db.contacts.lockOwner(id);
  const recipients = (await work.db.contacts.removeAllOf(id)).map((other) => other.agent_id);
  const data = { agent_id: id, canonical_handle };
  if (recipients.length > 0) work.changes.emit({ type: 'contact.removed', recipients, data });
  await work.db.contactRequests.withdrawAllOf(id, work.now);
  await work.db.credentials.revokeOfAgent(id, work.now);
  await endConnectionsOfAgent(work, id);
  await work.db.mcpSessions.removeOfAgent(id);
  await abandonWebhooks(work, await work.db.webhooks.removeAllOf(id));
  for (const message of revocationMessages(await endTokens(work, { agent_id: id })))
    work.changes.publish(message);
  // After the tokens, whose lock a claim holds when it locks the inbox.
  await removeInboxOf(work, id);
}

/** Removes the record of an agent of another system, and retires it. */
export async function retireRemote(
  work: SystemWork,
  { id, canonical_handle }: { id: string; canonical_handle: string },
): Promise<void> {
  // As every change of a remote agent: first the agent, then its threads, then their tasks.
  await work.db.agents.lock(id);
  await work.db.remoteThreads.lockOfAgent(id);
  await retire(work, { id, canonical_handle });
  await work.db.remoteAgents.remove(id);
  work.changes.audit({ act: 'remote_agent.removed', agent_id: id });
}

/**
 * Retires an agent that the actor manages; this can be the actor itself. Its tokens, credentials, connected clients, MCP sessions,
 * webhooks, inbox, contacts and pending contact requests end; its contacts receive an event. Its messages stay, and its handle stays reserved.
 * @throws {DomainError} AGENT_NOT_FOUND, FORBIDDEN, INVALID_HANDLE
 */
export async function retireAgent(work: Work, ref: string): Promise<void> {
  await retire(work, await requireManagedAgent(work, ref));
}
