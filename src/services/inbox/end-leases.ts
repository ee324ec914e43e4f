import type { SystemWork } from '../../work/unit-of-work.ts';

/** Removes the inbox of an agent that retires: its leases end. */
export async function removeInboxOf(
  { inboxes }: Pick<SystemWork, 'inboxes'>,
  agent_id: string,
): Promise<void> {
  if (await inboxes.lock(agent_id)) await inboxes.remove(agent_id);
}

/** Ends all leases of an agent that was paused. The items are ready again; the attempts do not count. */
export async function endLeasesOf(
  { inboxes, inboxLeases, now }: Pick<SystemWork, 'inboxes' | 'inboxLeases' | 'now'>,
  agent_id: string,
): Promise<void> {
  // Locked, so that a claim is either made before and ended here, or sees that the agent is paused.
  if (await inboxes.lock(agent_id)) await inboxLeases.endOfAgent(agent_id, now);
}

/** Removes the items of a thread from the inbox of an agent that is no longer its member: their leases end. */
export async function removeItemsOfThread(
  { inboxes, inboxRetention }: Pick<SystemWork, 'inboxes' | 'inboxRetention'>,
  { agent_id, thread_id }: { agent_id: string; thread_id: string },
): Promise<void> {
  if (await inboxes.lock(agent_id)) await inboxRetention.removeOfThread(agent_id, thread_id);
}
