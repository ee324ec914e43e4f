import type { Work } from '../unit-of-work.ts';
import { managedAgentFor } from './access.ts';
import { endConnectionsOfAgent } from './connections.ts';
import { endTokens, revocationMessages } from './revocations.ts';
import { removeWebhooksOf } from './webhook-access.ts';

/**
 * Retires an agent that the actor manages, itself not excepted (contract, section 3). Its tokens, credentials, connected clients
 * and tool sessions end with it, in every process; so do its webhooks, its contacts, of which the other sides hear, and its pending requests.
 * Its messages stay and show its handle, which is never given away again.
 * @throws {DomainError} AGENT_NOT_FOUND, FORBIDDEN, INVALID_HANDLE
 */
export async function retireAgent(work: Work, ref: string): Promise<void> {
  const { id, canonical_handle } = await managedAgentFor(work, ref);
  await work.agents.retire(id, work.now);
  work.note({ act: 'agent.retired', agent_id: id });
  // One event for all of them, however many they are.
  const recipients = (await work.contacts.removeAllOf(id)).map((other) => other.agent_id);
  const data = { agent_id: id, canonical_handle };
  if (recipients.length > 0) work.emit({ type: 'contact.removed', recipients, data });
  await work.contactRequests.withdrawAllOf(id, work.now);
  await work.credentials.revokeOfAgent(id, work.now);
  await endConnectionsOfAgent(work, id);
  await work.mcpSessions.removeOfAgent(id);
  await removeWebhooksOf(work, id);
  for (const message of revocationMessages(await endTokens(work, { agent_id: id }))) work.tell(message);
}
