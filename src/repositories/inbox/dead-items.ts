import type { FailedAttempt } from '../../../packages/core/src/domain/inbox.ts';
import { repository, sql } from '../sql.ts';
import { expiredAttempt, isExpired, leaseClock } from './lease-clock.ts';

/** An item that was not handled in `max_attempts` attempts. */
export interface DeadItemRow {
  /** The number of the event in the feed. */
  number: number;
  event_id: string;
  sender_id: string | null;
  /** The task of its message, if that belongs to one. */
  task_id: string | null;
  attempts: number;
  reasons: FailedAttempt[];
  /** When it became dead, in milliseconds. */
  updated_at: number;
}

const columns = 'number, event_id, sender_id, task_id, attempts, reasons, updated_at';

const redriven = `state = 'ready', attempts = 0, ready_at = ${leaseClock}, updated_at = ${leaseClock}`;

/** The dead items of inboxes. Their key is the id of their event. Writes are for those whose lease was ended. */
export const inboxDeadItemsRepository = repository({
  /**
   * Dead items of these types with a number above `after`, oldest first. With items whose last lease expired, before anything has ended
   * it.
   */
  list: sql.rows<
    [agentId: string, page: { after: number; limit: number; types: readonly string[] }],
    DeadItemRow
  >(
    'inbox_dead_items.list(agent_id, ...)',
    `(select ${columns} from inbox_items
     where agent_id = :agent_id and state = 'dead' and number > :after and event_type = any(:types::text[]) order by number limit :limit)
     union all
     (select i.number, i.event_id, i.sender_id, i.task_id, i.attempts, i.reasons || ${expiredAttempt} as reasons, i.expires_at as updated_at
     from inbox_items i join inboxes b on b.agent_id = i.agent_id
     where i.agent_id = :agent_id and ${isExpired} and i.attempts >= b.max_attempts and i.number > :after and i.event_type = any(:types::text[]) order by i.number limit :limit)
     order by number limit :limit`,
  ),
  /** Makes a dead item ready again, with all of its attempts; undefined if there is none. */
  redrive: sql.row<[agentId: string, eventId: string], DeadItemRow>(
    'inbox_dead_items.redrive(agent_id, event_id)',
    `update inbox_items set ${redriven} where agent_id = :agent_id and event_id = :event_id and state = 'dead' returning ${columns}`,
  ),
  /** Makes all dead items ready again; returns how many. */
  redriveAll: sql.rowCount<[agentId: string]>(
    'inbox_dead_items.redrive_all',
    `update inbox_items set ${redriven} where agent_id = :agent_id and state = 'dead' returning 1`,
  ),
  /** The task of the message of a dead item; null without one, undefined without the item. */
  findTask: sql.value<[agentId: string, eventId: string], string | null | undefined>(
    'inbox_dead_items.find_task(agent_id, event_id)',
    `select task_id from inbox_items where agent_id = :agent_id and event_id = :event_id and state = 'dead'`,
  ),
  /** The tasks of the messages of dead items whose event is older. */
  listTasksBefore: sql.values<[agentId: string, olderThan: string], string>(
    'inbox_dead_items.list_tasks_before(agent_id, older_than)',
    `select task_id from inbox_items where agent_id = :agent_id and state = 'dead' and event_id < :older_than and task_id is not null`,
  ),
  /** Removes a dead item, as if it had been acknowledged. Undefined if there is none. */
  remove: sql.row<[agentId: string, eventId: string], { sequence: number | null }>(
    'inbox_dead_items.remove(agent_id, event_id)',
    `with found as (
       select number, sequence from inbox_items where agent_id = :agent_id and event_id = :event_id and state = 'dead' for update
     ), removed as (
       delete from inbox_items i using found f where i.agent_id = :agent_id and i.number = f.number and f.sequence is null
     ), handled as (
       update inbox_items i set state = 'handled', updated_at = ${leaseClock}
       from found f where i.agent_id = :agent_id and i.number = f.number and f.sequence is not null
     )
     select sequence from found`,
  ),
});
