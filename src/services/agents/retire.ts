import type { SystemWork } from '../../work/unit-of-work.ts';
import { endConnectionsOfAgent } from '../auth/connections.ts';
import { endTokens, revocationMessages } from '../auth/revocations.ts';
import { removeWebhooksOf } from '../webhooks/access.ts';

/** Retires an agent with all that lets anybody act as it. A step of more than one use case, behind the check that one may. */
export async function retire(
  work: SystemWork,
  { id, canonical_handle }: { id: string; canonical_handle: string },
): Promise<void> {
  await work.agents.retire(id, work.now);
  work.audit({ act: 'agent.retired', agent_id: id });
  // One event for all of them, however many they are.
  const recipients = (await work.contacts.removeAllOf(id)).map((other) => other.agent_id);
  const data = { agent_id: id, canonical_handle };
  if (recipients.length > 0) work.emit({ type: 'contact.removed', recipients, data });
  await work.contactRequests.withdrawAllOf(id, work.now);
  await work.credentials.revokeOfAgent(id, work.now);
  await endConnectionsOfAgent(work, id);
  await work.mcpSessions.removeOfAgent(id);
  await removeWebhooksOf(work, id);
  for (const message of revocationMessages(await endTokens(work, { agent_id: id }))) work.publish(message);
}
