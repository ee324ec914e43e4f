import { inboxTopic } from '../../../packages/core/src/domain/inbox.ts';
import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';

type Ended = Awaited<ReturnType<SystemWork['inboxClaims']['endExpired']>>;

/** Removes the inbox of an agent that retires: its leases end. */
export async function removeInboxOf(
  { inboxes }: Pick<SystemWork, 'inboxes'>,
  agent_id: string,
): Promise<void> {
  if (await inboxes.lock(agent_id)) await inboxes.remove(agent_id);
}

/** Ends all leases of an agent that was paused. The items are ready again; the attempts do not count. */
export async function endLeasesOf(
  { inboxes, inboxLeases }: Pick<SystemWork, 'inboxes' | 'inboxLeases'>,
  agent_id: string,
): Promise<void> {
  // Locked, so that a claim is either made before and ended here, or sees that the agent is paused.
  if (await inboxes.lock(agent_id)) await inboxLeases.endOfAgent(agent_id);
}

/** Removes the items of a thread from the inbox of an agent that is no longer its member: their leases end. */
export async function removeItemsOfThread(
  { inboxes, inboxRetention }: Pick<SystemWork, 'inboxes' | 'inboxRetention'>,
  { agent_id, thread_id }: { agent_id: string; thread_id: string },
): Promise<void> {
  if (await inboxes.lock(agent_id)) await inboxRetention.removeOfThread(agent_id, thread_id);
}

/**
 * Ends the leases of an agent that have expired: their items are ready again, or dead after the last attempt. Claims that wait run again.
 * @returns whether the agent has an inbox
 */
export async function endExpiredLeases(
  work: Pick<SystemWork, 'inboxes' | 'inboxClaims' | 'publish' | 'enqueue'>,
  agent_id: string,
): Promise<boolean> {
  const inbox = await work.inboxes.lock(agent_id);
  if (!inbox) return false;
  const ended = await work.inboxClaims.endExpired(agent_id, inbox.max_attempts);
  announceDeadItems(work, agent_id, ended);
  if (ended.length > 0) work.publish({ topic: inboxTopic, body: agent_id });
  return true;
}

/** Tells the people of an agent that its inbox has dead items, if any of these are. */
export function announceDeadItems(
  { enqueue }: Pick<SystemWork, 'enqueue'>,
  agent_id: string,
  ended: Ended,
): void {
  const dead = ended.find(({ state }) => state === 'dead');
  if (dead) enqueue(toNoticeJob(agent_id, `${dead.event_id}/${dead.ended_at}`));
}
