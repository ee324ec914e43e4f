import {
  isOpenTask,
  type TaskDelivery,
  taskDeliveries,
  taskStates,
} from '../../../packages/core/src/domain/tasks.ts';
import { repository, sql } from '../sql.ts';
import type { RemoteTaskRow } from './threads.ts';

/** What became of a message to a remote agent. */
export interface RemoteMessageRow {
  message_id: string;
  thread_id: string;
  sequence: number;
  /** `unknown`: it was sent, and whether it arrived could not be found out. */
  outcome: 'accepted' | 'undeliverable' | 'unknown';
  remote_task_id: string | null;
  /** What the remote agent has done with it. */
  delivery: TaskDelivery;
  error: { code: string; message: string } | null;
  created_at: number;
}

/** A message that a remote agent did not get, or perhaps not. */
export interface UndeliveredMessage extends Pick<RemoteMessageRow, 'message_id' | 'sequence' | 'error'> {
  outcome: Exclude<RemoteMessageRow['outcome'], 'accepted'>;
  failed_at: number;
}

/** A message that the remote side has accepted. */
export interface AcceptedMessage extends Pick<
  RemoteMessageRow,
  'message_id' | 'thread_id' | 'sequence' | 'delivery'
> {
  /** A new task; null: the remote side sent a message in place of one. */
  task: Pick<RemoteTaskRow, 'remote_task_id' | 'message_id' | 'task_id' | 'state' | 'poll_at'> | null;
  replaces_polls: boolean;
}

/** The marks of a remote agent in a thread, as its side says. */
export interface RemoteMarks {
  thread_id: string;
  delivered: number;
  read: number;
  handled: number;
}

const openStates = `'${taskStates.filter(isOpenTask).join("', '")}'`;

const levels = `array['${taskDeliveries.join("', '")}']`;

/** Accepted messages `m` of the thread `:thread_id` with which the remote agent has done less than `:delivery`. */
const isLower = `m.thread_id = :thread_id and m.outcome = 'accepted' and m.delivery = any((${levels})[1: array_position(${levels}, :delivery::text) - 1])`;

/**
 * The last message that was sent before the first accepted one of a thread `w` that is still in one of these states. One index entry for each state.
 * An answer between them travels as an update of its task: it counts with the next message that was sent.
 */
const markOf = (states: readonly TaskDelivery[]): string => {
  const first = (state: TaskDelivery) =>
    `(select min(sequence) from remote_messages where thread_id = w.thread_id and outcome = 'accepted' and delivery = '${state}')`;
  return `coalesce((select max(sequence) from remote_messages
    where thread_id = w.thread_id and sequence < coalesce(least(${states.map(first).join(', ')}), 2147483647)), 0)`;
};

const isGone = (row: string): string => `not exists (select from messages where id = ${row}.message_id)`;

/** What became of the messages to remote agents. */
export const remoteMessagesRepository = repository({
  /**
   * Messages were accepted: adds them, and their tasks. A callback that came before its task makes that one due. `replaces_polls`: earlier ones
   * that ended at once are no longer read for their receipts, because this one is. Locks the threads in one order.
   */
  addAccepted: sql.run<[messages: readonly AcceptedMessage[], now: number]>(
    'remote_messages.insert_accepted',
    `with accepted as materialized (
       select a.*, r.called_id from json_to_recordset(:messages) a (message_id text, thread_id text, sequence int, delivery text, task json, replaces_polls boolean)
       join remote_threads r on r.thread_id = a.thread_id and r.thread_id = any(:thread_ids::text[]) order by r.thread_id for update of r
     ), message as (
       insert into remote_messages (message_id, thread_id, sequence, outcome, remote_task_id, delivery, created_at)
       select message_id, thread_id, sequence, 'accepted', task->>'remote_task_id', delivery, :now::bigint from accepted on conflict (message_id) do nothing
     ), replaced as (
       update remote_tasks k set poll_at = null from accepted a
       where a.replaces_polls and k.thread_id = a.thread_id and k.thread_id = any(:thread_ids::text[]) and k.remote_task_id <> a.task->>'remote_task_id' and k.poll_at > :now::bigint
         and k.polls = 0 and k.generation = 0 and k.held_after is null and k.state not in (${openStates})
     )
     insert into remote_tasks (thread_id, remote_task_id, message_id, task_id, state, generation, polls, poll_at)
     select a.thread_id, k.remote_task_id, k.message_id, k.task_id, k.state, 0, 0, case when k.poll_at is not null and a.called_id = a.message_id then :now::bigint else k.poll_at end
     from accepted a cross join lateral json_populate_record(null::remote_tasks, a.task) k where a.task is not null
     on conflict (thread_id, remote_task_id) do update set state = excluded.state, generation = excluded.generation, polls = excluded.polls,
       cancel_sent = excluded.cancel_sent, poll_at = excluded.poll_at, held_after = excluded.held_after`,
    (messages, now) => ({
      messages: JSON.stringify(messages),
      thread_ids: messages.map(({ thread_id }) => thread_id),
      now,
    }),
  ),
  /** A message was not accepted, or perhaps not. */
  addMessage: sql.run<[message: RemoteMessageRow]>(
    'remote_messages.insert',
    `insert into remote_messages (message_id, thread_id, sequence, outcome, remote_task_id, delivery, error, created_at)
     values (:message_id, :thread_id, :sequence, :outcome, :remote_task_id, :delivery, :error, :created_at)
     on conflict (message_id) do nothing`,
    ({ error, ...message }) => ({ ...message, error: error && JSON.stringify(error) }),
  ),
  /** The remote agent has done this with the messages of a task. `isMark`: and with those before, because its side counts the marks of the thread. */
  setDelivery: sql.run<[threadId: string, remoteTaskId: string, delivery: TaskDelivery, isMark: boolean]>(
    'remote_messages.set_delivery(thread_id, remote_task_id, delivery, is_mark)',
    `with last as (select max(sequence) as sequence from remote_messages where thread_id = :thread_id and remote_task_id = :remote_task_id)
     update remote_messages m set delivery = :delivery from last where ${isLower} and (m.remote_task_id = :remote_task_id or :is_mark::boolean and m.sequence <= last.sequence)`,
  ),
  /** The remote agent has done this with a message of the thread, and with those before. */
  setMark: sql.run<[threadId: string, messageId: string, delivery: TaskDelivery]>(
    'remote_messages.set_mark(thread_id, message_id, delivery)',
    `with last as (select sequence from remote_messages where thread_id = :thread_id and message_id = :message_id)
     update remote_messages m set delivery = :delivery from last where ${isLower} and m.sequence <= last.sequence`,
  ),
  /** The newest messages before a sequence that were not delivered, newest first. */
  listUndelivered: sql.rows<[threadId: string, below: number, limit: number], UndeliveredMessage>(
    'remote_messages.list_undelivered(thread_id, below, limit)',
    `select message_id, sequence, outcome, error, created_at as failed_at from remote_messages
     where thread_id = :thread_id and sequence < :below and outcome <> 'accepted' order by sequence desc limit :limit`,
  ),
  /**
   * Forgets what became of messages that were removed, with their ended tasks, and which of them have arrived; up to `limit` of each. Returns
   * how many. All are below this id. The last arrival of a thread is kept: its sender can repeat it, and names it in the next message.
   */
  removeOrphaned: sql.rowCount<[firstId: string, limit: number]>(
    'remote_messages.remove_orphaned(first_id, limit)',
    `with sent as (
       delete from remote_messages where message_id = any(array(
         select r.message_id from remote_messages r where r.message_id < :first_id and ${isGone('r')}
           and not exists (select from task_messages where message_id = r.message_id)
           and not exists (select from remote_tasks where thread_id = r.thread_id and remote_task_id = r.remote_task_id and poll_at is not null)
         order by 1 limit :limit))
       returning thread_id, remote_task_id
     ), ended as (
       delete from remote_tasks k using sent s
       where k.thread_id = s.thread_id and k.remote_task_id = s.remote_task_id and k.task_id is null and k.poll_at is null
         and not exists (select from remote_messages r where r.thread_id = k.thread_id and r.remote_task_id = k.remote_task_id
           and r.message_id >= :first_id)
     ), arrived as (
       delete from remote_updates where (thread_id, key) in (
         select u.thread_id, u.key from remote_updates u where u.message_id < :first_id and ${isGone('u')}
           and exists (select from remote_updates where thread_id = u.thread_id and message_id > u.message_id)
           and not exists (select from remote_tasks where thread_id = u.thread_id and poll_at is not null)
         order by u.message_id limit :limit)
       returning 1
     )
     select from sent union all select from arrived`,
  ),
  /** Whether the remote agent got a message after those of a task. */
  hasLater: sql.hasRow<[threadId: string, remoteTaskId: string]>(
    'remote_messages.has_later(thread_id, remote_task_id)',
    `select 1 from remote_messages m where m.thread_id = :thread_id and m.outcome = 'accepted' and m.sequence >
       (select max(sequence) from remote_messages o where o.thread_id = :thread_id and o.remote_task_id = :remote_task_id) limit 1`,
  ),
  /** The sequences up to which all messages of threads are delivered, read and handled; 0: none. */
  readMarks: sql.rows<[threadIds: readonly string[]], RemoteMarks>(
    'remote_messages.read_marks',
    `select w.thread_id, ${markOf(['stored'])} as delivered, ${markOf(['stored', 'delivered'])} as read, ${markOf(['stored', 'delivered', 'read'])} as handled
     from unnest(:thread_ids::text[]) w (thread_id)`,
  ),
  /** Moves the marks of remote agents forward. Leaves out threads in which none moved; a mark that did not is null. */
  moveMarks: sql.rows<
    [marks: readonly (RemoteMarks & { agent_id: string })[]],
    { thread_id: string; read_sequence: number | null; handled_sequence: number | null }
  >(
    'remote_threads.move_marks',
    `with before as materialized (
       select m.thread_id, m.agent_id, m.handled_sequence, m.read_sequence, w.read, w.handled
       from unnest(:thread_ids::text[], :agent_ids::text[], :reads::int[], :handled::int[]) w (thread_id, agent_id, read, handled)
       join thread_members m on m.thread_id = w.thread_id and m.agent_id = w.agent_id and (m.handled_sequence < w.handled or m.read_sequence < w.read)
       order by m.thread_id, m.agent_id for no key update of m
     ), moved as (
       update thread_members m set handled_sequence = greatest(m.handled_sequence, b.handled), read_sequence = greatest(m.read_sequence, b.read)
       from before b where m.thread_id = b.thread_id and m.agent_id = b.agent_id
     )
     select thread_id, case when read > read_sequence then read end as read_sequence, case when handled > handled_sequence then handled end as handled_sequence
     from before`,
    (marks) => ({
      thread_ids: marks.map(({ thread_id }) => thread_id),
      agent_ids: marks.map(({ agent_id }) => agent_id),
      reads: marks.map(({ read }) => read),
      handled: marks.map(({ handled }) => handled),
    }),
  ),
});
