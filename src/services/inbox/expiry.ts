import { minIdAt } from '../../../packages/core/src/domain/ids.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { failTask, returnTasks } from '../tasks/transitions.ts';

const entriesPerStep = 1_000;

/**
 * Removes the items of an agent whose events are older than `oldest` (ms), also those that were not copied from the feed yet. If any was not
 * acknowledged, the agent receives an event with their number.
 */
export async function expireItems(work: SystemWork, agent_id: string, oldest: number): Promise<void> {
  const inbox = await work.db.inboxes.lock(agent_id);
  if (!inbox) return;
  const olderThan = minIdAt('event', oldest);
  for (let { position } = inbox; ;) {
    const entries = await work.db.inboxRetention.listEntries(agent_id, {
      position,
      older_than: olderThan,
      limit: entriesPerStep,
    });
    position = entries.at(-1)?.number ?? position;
    if (entries.length > 0) await work.db.inboxClaims.materialize(agent_id, { entries, position });
    if (entries.length < entriesPerStep) break;
  }
  // The tasks are locked before the items.
  await returnTasks(work, await work.db.inboxLeases.lockOfTasks(agent_id, olderThan));
  for (const id of await work.db.inboxDeadItems.listTasksBefore(agent_id, olderThan))
    await failTask(work, id);
  const count = await work.db.inboxRetention.removeItems(agent_id, olderThan);
  if (count === 0) return;
  work.changes.emit({ type: 'inbox.expired', recipients: [agent_id], data: { count, expired_at: work.now } });
}
