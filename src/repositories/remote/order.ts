import type { TaskDelivery } from '../../../packages/core/src/domain/tasks.ts';
import { repository, sql } from '../sql.ts';

/** So many messages before a mark are looked at. */
const markedMessages = 1_000;

/** A remote agent in a thread, as SQL expressions. */
const parameters = { threadId: ':thread_id', agentId: ':agent_id' };

/** The messages of a remote agent in a thread that were applied or that it has sent, of `keys`. */
const known = (keys: string, { threadId, agentId } = parameters): string => `
  select key from remote_updates where thread_id = ${threadId} and key = any(${keys})
  union all select w.client_message_id from remote_agents r
    join a2a_messages w on w.client_id = r.agent_id and w.agent_id = r.bound_id and w.client_message_id = any(${keys})
  where r.agent_id = ${agentId}`;

/**
 * A message of a remote agent has not arrived, but can still arrive as the update of a task: of one that is read, or of one that a message
 * opened whose answer is not here yet.
 */
export const awaited = (key: string, of = parameters): string => `((
    exists (select from remote_tasks where thread_id = ${of.threadId} and poll_at is not null)
    or exists (select from remote_threads r join messages m on m.thread_id = r.thread_id and m.sequence > r.position
      where r.thread_id = ${of.threadId} and m.sender_id <> ${of.agentId}))
  and not exists (${known(`array[${key}]::text[]`, of)}))`;

/** The message before a message `m` which reaches a remote agent, by the other members; null: there is none. */
export const previousOf = (agentId: string): string => `(select p.id from messages p
  where p.thread_id = m.thread_id and p.sequence < m.sequence and p.sender_id <> ${agentId}
    and not exists (select from remote_messages r where r.message_id = p.id and r.outcome <> 'accepted')
    -- One that was withdrawn or replaced before it was sent is never sent.
    and (p.withdrawn_at is null and p.replaced_by is null
      or exists (select from remote_messages r where r.message_id = p.id and r.outcome = 'accepted'))
  order by p.sequence desc limit 1)`;

/**
 * The order of messages between installations. Some travel as updates of tasks and others do not, so each names the one of its sender before it.
 */
export const remoteOrderRepository = repository({
  /** The message before each of these which reaches the remote agent, by the other members; null: there is none. */
  listPrevious: sql.rows<
    [messageIds: readonly string[], agentId: string],
    { id: string; after: string | null }
  >(
    'remote_order.list_previous(message_ids, agent_id)',
    `select m.id, ${previousOf(':agent_id')} as after from messages m where m.id = any(:message_ids::text[]) and m.sender_id <> :agent_id`,
  ),
  /**
   * The last message of a client that the asked agent has got, has read and has handled, as the client names it. Only the messages before each
   * mark are looked at: the client can have sent other ones as updates of tasks.
   */
  listMarks: sql.rows<
    [conversation: { thread_id: string; client_id: string; agent_id: string }],
    { level: Exclude<TaskDelivery, 'stored'>; message_id: string }
  >(
    'remote_order.list_marks',
    `select s.level, w.client_message_id as message_id from thread_members a
     cross join lateral (values ('delivered', a.delivered_sequence), ('read', a.read_sequence), ('handled', a.handled_sequence)) s (level, sequence)
     cross join lateral (
       select w.client_message_id from messages m join task_messages k on k.message_id = m.id
       join a2a_messages w on w.task_id = k.task_id and w.message_id = m.id
       where m.thread_id = a.thread_id and m.sender_id = :client_id and m.sequence <= s.sequence and m.sequence > s.sequence - ${markedMessages}
       order by m.sequence desc limit 1) w
     where a.thread_id = :thread_id and a.agent_id = :agent_id`,
  ),
  /** Which of these messages of a remote agent have arrived. */
  listKnown: sql.values<[threadId: string, agentId: string, keys: readonly string[]], string>(
    'remote_order.list_known(thread_id, agent_id, keys)',
    known(':keys::text[]'),
  ),
  isAwaited: sql.hasRow<[threadId: string, agentId: string, key: string]>(
    'remote_order.is_awaited(thread_id, agent_id, key)',
    `select 1 where ${awaited(':key')}`,
  ),
  /** These messages have arrived: tasks whose items wait for one of them are read now. */
  wakeHeld: sql.run<[threadIds: readonly string[], keys: readonly string[], now: number]>(
    'remote_tasks.wake_held(thread_ids, keys, now)',
    `update remote_tasks set poll_at = :now, held_after = null
     where thread_id = any(:thread_ids::text[]) and poll_at is not null and held_after = any(:keys::text[])`,
  ),
});
