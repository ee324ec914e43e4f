import { type MessageRow, messageColumns } from '../messages/messages.ts';
import { previousOf } from './order.ts';
import type { PendingWithdrawal } from './withdrawals.ts';

/** Where a message belongs. */
export interface MessagePlace {
  /** The task here that it opens or belongs to. */
  task_id: string | null;
  /** The remote task that it continues. */
  remote_task_id: string | null;
}

/** The next work of a thread with a remote agent, with the place of its message. */
export interface NextInThread extends MessagePlace {
  thread_id: string;
  last_sequence: number;
  /** Messages up to this sequence were looked at. */
  seen_sequence: number;
  /** The next message to the remote agent; null: none among the next messages. */
  message: MessageRow | null;
  /** The first withdrawal of a message that needs no attempt any more; null: none. */
  withdrawal: PendingWithdrawal | null;
  /** The one that another installation must have before it; null: none. */
  after: string | null;
  has_due_task: boolean;
}

/** So many messages of a thread are looked at: a small range is cheap under every plan (see `page` of the messages). */
const peekedMessages = 100;

/** A message of a task that the remote side opened travels as that task's update, which the other side reads. */
const isOwn = `not exists (select from task_messages k join tasks t on t.id = k.task_id where k.message_id = m.id and t.client_id = w.agent_id)`;

/**
 * The statement for `NextInThread`, with `:thread_ids`, `:agent_ids`, `:positions`, `:are_bound` (to an agent of another installation) and
 * `:now`. A message continues the remote task of its task, or else one without a task here that waits for input.
 * @param isToCancel whether a remote task `k` is to be canceled at the remote side
 */
export const nextInThreads = (
  isToCancel: string,
): string => `select w.thread_id, t.last_sequence, least(t.last_sequence, w.position + ${peekedMessages}) as seen_sequence,
  (select to_json(n) from (select ${messageColumns} from messages m join agents a on a.id = m.sender_id where m.id = next.id limit 1) n) as message,
  (select case when w.is_bound then ${previousOf('w.agent_id')} end from messages m where m.id = next.id limit 1) as after,
  (select to_json(x) from (select m.id as message_id, not ${isOwn} as is_update from (
     select message_id as id from remote_withdrawals where thread_id = w.thread_id and sequence <= w.position order by sequence limit 1) m) x) as withdrawal,
  place.task_id, continued.remote_task_id,
  exists (select from remote_tasks k where k.thread_id = t.id and (k.poll_at <= :now or ${isToCancel})) as has_due_task
  from unnest(:thread_ids::text[], :agent_ids::text[], :positions::int[], :are_bound::boolean[]) w (thread_id, agent_id, position, is_bound)
  join threads t on t.id = w.thread_id
  left join lateral (
    select m.id from messages m where m.thread_id = w.thread_id and m.sequence > w.position and m.sequence <= w.position + ${peekedMessages}
      and m.sender_id <> w.agent_id and ${isOwn} order by m.sequence limit 1) next on true
  left join lateral (select task_id from task_messages where message_id = next.id limit 1) place on true
  left join lateral (select k.remote_task_id from remote_tasks k where k.thread_id = w.thread_id and k.poll_at is not null and next.id is not null
    and (k.task_id = place.task_id or place.task_id is null and k.task_id is null and k.state = 'input_required') limit 1) continued on true`;
