import type { EndedItem } from '../../repositories/inbox/claims.ts';
import { inboxTopic } from '../../../packages/core/src/domain/inbox.ts';
import { returnTasks } from '../tasks/transitions.ts';
import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';

/** Removes the inbox of an agent that retires: its leases end. */
export async function removeInboxOf({ db: { inboxes } }: ReadWork, agent_id: string): Promise<void> {
  if (await inboxes.lock(agent_id)) await inboxes.remove(agent_id);
}

/** Ends all leases of an agent that was paused. The items are ready again; the attempts do not count. */
export async function endLeasesOf(work: SystemWork, agent_id: string): Promise<void> {
  // Locked, so that a claim is either made before and ended here, or sees that the agent is paused.
  if (await work.db.inboxes.lock(agent_id))
    await returnTasks(work, await work.db.inboxLeases.endOfAgent(agent_id));
}

/** Removes the items of a thread from the inbox of an agent that is no longer its member: their leases end. */
export async function removeItemsOfThread(
  { db: { inboxes, inboxRetention } }: ReadWork,
  { agent_id, thread_id }: { agent_id: string; thread_id: string },
): Promise<void> {
  if (await inboxes.lock(agent_id)) await inboxRetention.removeOfThread(agent_id, thread_id);
}

/** Removes a message of a locked thread from the inboxes of its members: no claim returns it any more. */
export async function removeMessageFromInboxes(
  { db: { inboxRetention }, changes }: SystemWork,
  message: { thread_id: string; sequence: number },
  members: readonly string[],
): Promise<void> {
  const inboxes = await inboxRetention.lockInboxes(members);
  if (inboxes.length === 0) return;
  // The next message of the thread may be ready now.
  for (const body of await inboxRetention.removeMessage(inboxes, message))
    changes.publish({ topic: inboxTopic, body });
}

/**
 * Ends the leases of an agent that have expired: their items are ready again, or dead after the last attempt. Claims that wait run again.
 * @returns whether the agent has an inbox
 */
export async function endExpiredLeases(work: SystemWork, agent_id: string): Promise<boolean> {
  const inbox = await work.db.inboxes.lock(agent_id);
  if (!inbox) return false;
  const ended = await work.db.inboxClaims.endExpired(agent_id, inbox.max_attempts);
  announceDeadItems(work, agent_id, ended);
  await returnTasks(work, ended);
  if (ended.length > 0) work.changes.publish({ topic: inboxTopic, body: agent_id });
  return true;
}

/** Tells the people of an agent that its inbox has dead items, if any of these are. */
export function announceDeadItems(
  { changes: { enqueue } }: SystemWork,
  agent_id: string,
  ended: readonly EndedItem[],
): void {
  const dead = ended.find(({ state }) => state === 'dead');
  if (dead) enqueue(toNoticeJob(agent_id, `${dead.event_id}/${dead.ended_at}`));
}
