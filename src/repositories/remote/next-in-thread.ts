import { type MessageRow, messageColumns } from '../messages/messages.ts';
import { hideFromPlanner } from '../queryable.ts';

/** The next work of a thread with a remote agent. */
export interface NextInThread {
  last_sequence: number;
  /** Messages up to this sequence were looked at. */
  seen_sequence: number;
  /** The next message to the remote agent; null: none among the next messages. */
  message: MessageRow | null;
  /** Whether one follows it. */
  has_more: boolean;
  has_due_task: boolean;
}

/** So many messages of a thread are looked at: a small range is cheap under every plan (see `page` of the messages). */
const peekedMessages = 100;

const peekEnd = `${hideFromPlanner(':position', 'int')} + ${peekedMessages}`;

/** A message of a task that the remote side opened travels as that task's update, which the other side reads. */
const isOwn = `not exists (select from task_messages k join tasks t on t.id = k.task_id where k.message_id = m.id and t.client_id = :agent_id)`;

/** The first or a later message to the remote agent, as JSON of a `MessageRow`. */
const next = (number: number): string => `(select to_json(n) from (
  select ${messageColumns} from messages m join agents a on a.id = m.sender_id
  where m.thread_id = ${hideFromPlanner(':thread_id', 'text')} and m.sequence > ${hideFromPlanner(':position', 'int')} and m.sequence <= ${peekEnd} and m.sender_id <> :agent_id and ${isOwn}
  order by m.sequence limit 1 offset ${number - 1}) n)`;

/**
 * The statement for `NextInThread`, with `:thread_id`, `:agent_id`, `:position` and `:now`.
 * @param isToCancel whether a remote task `k` is to be canceled at the remote side
 */
export const nextInThread = (
  isToCancel: string,
): string => `select t.last_sequence, least(t.last_sequence, ${peekEnd}) as seen_sequence, ${next(1)} as message, ${next(2)} is not null as has_more,
  exists (select from remote_tasks k where k.thread_id = t.id and (k.poll_at <= :now or ${isToCancel})) as has_due_task
  from threads t where t.id = :thread_id`;
