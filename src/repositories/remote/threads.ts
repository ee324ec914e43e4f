import type { TaskState } from '../../../packages/core/src/domain/tasks.ts';
import { defaultPacing } from '../../../packages/core/src/domain/webhooks.ts';
import { repository, sql } from '../sql.ts';
import { type NextInThread, nextInThreads } from './next-in-thread.ts';

/** A thread of an agent here and a remote agent. Times are in milliseconds. */
export interface RemoteThreadRow {
  thread_id: string;
  agent_id: string;
  /** The sequence of the last message that needs no attempt any more. */
  position: number;
  /** As the remote side names the conversation; null before it answers. */
  context_id: string | null;
  /** As both installations name it. */
  conversation: string;
  /** Of the message after `position`. */
  attempts: number;
  /** The message whose sending has begun, and whose outcome is not known. */
  begun_id: string | null;
  /** When it may be attempted next; also the lease of the worker that has it. */
  next_at: number;
  /** When a task is read or a withdrawal is told next; null: none is open. */
  poll_at: number | null;
}

/** What the turn of a claimed thread stores. */
export interface RemoteThreadState extends Pick<
  RemoteThreadRow,
  'thread_id' | 'position' | 'context_id' | 'attempts' | 'begun_id' | 'next_at'
> {
  /** `next_at` before. */
  lease: number;
  /** Whether the turn is over. A thread that was recalled meanwhile is then due at once. */
  is_over: boolean;
}

/** A task of a remote agent. */
export interface RemoteTaskRow {
  thread_id: string;
  remote_task_id: string;
  /** The message that opened it. */
  message_id: string;
  /** The task here; null if the message opened none. */
  task_id: string | null;
  state: TaskState;
  /** As the remote side counts; 0: it does not. */
  generation: number;
  polls: number;
  cancel_sent: boolean;
  /** The first attempt to tell that it is canceled has failed: the next ones come with its reads. */
  cancel_failed: boolean;
  /** Null: it has ended. */
  poll_at: number | null;
  /** The message for which one of its items waits; null: none. */
  held_after: string | null;
}

const columns = `r.thread_id, r.agent_id, r.position, r.context_id, r.attempts, r.begun_id, r.next_at, r.poll_at,
  coalesce((select c.conversation from remote_conversations c where c.thread_id = r.thread_id), r.thread_id) as conversation`;
const taskColumns = `k.thread_id, k.remote_task_id, k.message_id, k.task_id, k.state, k.generation, k.polls, k.cancel_sent, k.cancel_failed, k.poll_at, k.held_after`;

/** Needs remote tasks `k`: it is canceled here, and the remote side is told now. */
const isToCancel = `k.poll_at is not null and not k.cancel_sent and (k.poll_at <= :now or not k.cancel_failed) and exists (select from tasks t where t.id = k.task_id and t.state = 'canceled')`;

/** Needs `remote_threads r` and `threads t`: something is to be sent. */
const hasOutgoing = `(r.position < t.last_sequence or exists (select from remote_tasks k where k.thread_id = r.thread_id and ${isToCancel})
  or exists (select from remote_withdrawals x where x.thread_id = r.thread_id))`;

/**
 * Threads with something to do at `:now`. The tasks say what is due: a turn that waits for the lock of a callback then stores the `poll_at` of
 * the thread as it was before.
 */
const due = `remote_threads r join threads t on t.id = r.thread_id where r.next_at <= :now
  and (exists (select from remote_tasks k where k.thread_id = r.thread_id and k.poll_at <= :now) or ${hasOutgoing})`;

/** A worker has it. A process of the previous release does not write `lease_state`: a longer pause is not a lease. */
const isLeased = `coalesce(lease_state is not null and next_at > :now::bigint and next_at <= :now::bigint + ${defaultPacing.leaseMs}, false)`;

/** Statements that use the index of threads with work name it with this condition. */
const hasWork = `(r.position < r.last_sequence or r.poll_at is not null)`;

/**
 * Notes the last sequences of the threads `:thread_ids`, as a part of a statement: a message that is not noted is one whose event was not
 * delivered. Rows are locked in one order.
 */
export const notingSequences = `noted as (
  update remote_threads r set last_sequence = l.last_sequence
  from (select r.thread_id, t.last_sequence from remote_threads r join threads t on t.id = r.thread_id
        where r.thread_id = any(:thread_ids::text[]) and r.last_sequence < t.last_sequence order by 1 for update of r) l
  where r.thread_id = l.thread_id)`;

/** Those of the threads `:thread_ids` from which something is to be sent, and that no process has. */
export const outgoingOfThreads = `select r.thread_id from remote_threads r join threads t on t.id = r.thread_id
  where r.thread_id = any(:thread_ids::text[]) and r.next_at <= :now and ${hasOutgoing}`;

export const remoteThreadsRepository = repository({
  insert: sql.run<[thread: Pick<RemoteThreadRow, 'thread_id' | 'agent_id'>, now: number]>(
    'remote_threads.insert(..., now)',
    `insert into remote_threads (thread_id, agent_id, next_at) values (:thread_id, :agent_id, :now)`,
  ),
  isRemote: sql.hasRow<[threadId: string]>(
    'remote_threads.is_remote',
    `select 1 from remote_threads where thread_id = :thread_id`,
  ),
  /** The thread of a conversation with a remote agent. */
  findConversation: sql.value<[agentId: string, conversation: string], string | undefined>(
    'remote_conversations.find(agent_id, conversation)',
    `select thread_id from remote_conversations where agent_id = :agent_id and conversation = :conversation
     union all select thread_id from remote_threads where agent_id = :agent_id and thread_id = :conversation limit 1`,
  ),
  /** The remote agent has opened a thread as this conversation. */
  addConversation: sql.run<[agentId: string, conversation: string, threadId: string]>(
    'remote_conversations.insert(agent_id, conversation, thread_id)',
    `insert into remote_conversations (agent_id, conversation, thread_id) values (:agent_id, :conversation, :thread_id)`,
  ),
  /**
   * No other process gets these threads for `leaseMs`. Leaves out those that another one has, and those without anything to do. Rows are
   * locked in one order.
   */
  claim: sql.rows<[threadIds: readonly string[], now: number, leaseMs: number], RemoteThreadRow>(
    'remote_threads.claim(thread_ids, now, lease_ms)',
    `with claimed as (select r.thread_id from ${due} and r.thread_id = any(:thread_ids::text[]) order by 1 for update of r)
     update remote_threads r set next_at = :now::bigint + :lease_ms::bigint, lease_state = 'claimed' from claimed c where r.thread_id = c.thread_id returning ${columns}`,
  ),
  /** Stores the states of claimed threads. Leaves out those whose leases have ended. By their ids too: the planner expects a hundred rows of JSON. */
  store: sql.rows<
    [states: readonly RemoteThreadState[], now: number],
    Pick<RemoteThreadRow, 'thread_id' | 'next_at' | 'poll_at'>
  >(
    'remote_threads.store',
    `with state as materialized (
       select s.* from json_to_recordset(:states) s (thread_id text, lease bigint, position int, context_id text, attempts int, begun_id text, next_at bigint, is_over boolean)
       join remote_threads r on r.thread_id = s.thread_id and r.next_at = s.lease and r.thread_id = any(:thread_ids::text[]) order by r.thread_id for update of r)
     update remote_threads r set position = s.position, context_id = s.context_id, attempts = case when r.lease_state = 'recalled' then 0 else s.attempts end, begun_id = s.begun_id,
       next_at = case when s.is_over and r.lease_state = 'recalled' then least(s.next_at, :now) else s.next_at end, lease_state = case when not s.is_over then r.lease_state end,
       poll_at = least((select min(poll_at) from remote_tasks k where k.thread_id = s.thread_id),
         (select min(created_at) from remote_withdrawals x where x.thread_id = s.thread_id))
     from state s where r.thread_id = s.thread_id returning r.thread_id, r.next_at, r.poll_at`,
    (states, now) => ({
      states: JSON.stringify(states),
      thread_ids: states.map(({ thread_id }) => thread_id),
      now,
    }),
  ),
  /** All threads of the agent become due; the leased ones when the worker releases them. Rows are locked in one order. */
  setDue: sql.values<[agentId: string, now: number], string>(
    'remote_threads.set_due(agent_id, now)',
    `with locked as (select thread_id from remote_threads where agent_id = :agent_id order by 1 for update)
     update remote_threads r set attempts = 0, next_at = case when ${isLeased} then next_at else least(next_at, :now::bigint) end,
       lease_state = case when ${isLeased} then 'recalled' end
     from locked l where r.thread_id = l.thread_id returning r.thread_id`,
  ),
  /** Threads of the agent that wait for their next attempts become due. An early attempt does not count. Rows are locked in one order. */
  resume: sql.values<[agentId: string, now: number], string>(
    'remote_threads.resume(agent_id, now)',
    `with waiting as (
       select r.thread_id from remote_threads r
       where r.agent_id = :agent_id and ${hasWork} and r.next_at > :now and not ${isLeased} order by 1 for update of r)
     update remote_threads r set next_at = :now, attempts = greatest(r.attempts - 1, 0), lease_state = null
     from waiting w where r.thread_id = w.thread_id returning r.thread_id`,
  ),
  listDue: sql.values<[now: number, after: string, limit: number], string>(
    'remote_threads.list_due(now, after, limit)',
    `select r.thread_id from remote_threads r where ${hasWork} and r.thread_id > :after and r.next_at <= :now
       and (r.position < r.last_sequence or r.poll_at <= :now or exists (select from remote_tasks k where k.thread_id = r.thread_id and ${isToCancel}))
     order by 1 limit :limit`,
  ),
  /** When the oldest message was sent that no remote agent has accepted yet; null: none. Of more threads than `limit`, those are not looked at. */
  findOldestWaiting: sql.value<[limit: number], number | null>(
    'remote_threads.find_oldest_waiting(limit)',
    `select min(m.created_at) from (
       select r.thread_id, r.agent_id, r.position from remote_threads r where r.position < r.last_sequence limit :limit) r
     cross join lateral (
       select created_at, sender_id from messages where thread_id = r.thread_id and sequence = r.position + 1 offset 0) m
     where m.sender_id <> r.agent_id`,
  ),
  /** Those of these threads with something to do. */
  listDueAmong: sql.values<[threadIds: readonly string[], now: number], string>(
    'remote_threads.list_due_among(thread_ids, now)',
    `select r.thread_id from ${due} and r.thread_id = any(:thread_ids::text[])`,
  ),
  /** What their turns do next; all of a thread as at one time. */
  peek: sql.rows<
    [
      threads: readonly (Pick<RemoteThreadRow, 'thread_id' | 'agent_id' | 'position'> & {
        is_bound: boolean;
      })[],
      now: number,
    ],
    NextInThread
  >('remote_threads.peek', nextInThreads(isToCancel), (threads, now) => ({
    thread_ids: threads.map(({ thread_id }) => thread_id),
    agent_ids: threads.map(({ agent_id }) => agent_id),
    positions: threads.map(({ position }) => position),
    are_bound: threads.map(({ is_bound }) => is_bound),
    now,
  })),
  /** Inserts a task, or stores what it has become. */
  putTask: sql.run<[task: RemoteTaskRow]>(
    'remote_tasks.put',
    `insert into remote_tasks (thread_id, remote_task_id, message_id, task_id, state, generation, polls, cancel_sent, cancel_failed, poll_at, held_after)
     values (:thread_id, :remote_task_id, :message_id, :task_id, :state, :generation, :polls, :cancel_sent, :cancel_failed, :poll_at, :held_after)
     on conflict (thread_id, remote_task_id) do update set state = excluded.state, generation = excluded.generation, polls = excluded.polls,
       cancel_sent = excluded.cancel_sent, cancel_failed = excluded.cancel_failed, poll_at = excluded.poll_at, held_after = excluded.held_after`,
  ),
  findTask: sql.row<[threadId: string, remoteTaskId: string], RemoteTaskRow>(
    'remote_tasks.find(thread_id, remote_task_id)',
    `select ${taskColumns} from remote_tasks k where k.thread_id = :thread_id and k.remote_task_id = :remote_task_id`,
  ),
  /** A task to read now, or to cancel. */
  findDueTask: sql.row<[threadId: string, now: number], RemoteTaskRow & { is_to_cancel: boolean }>(
    'remote_tasks.find_due(thread_id, now)',
    `select ${taskColumns}, ${isToCancel} as is_to_cancel from remote_tasks k
     where k.thread_id = :thread_id and (k.poll_at <= :now or ${isToCancel}) order by k.poll_at limit 1`,
  ),
  /** Locks a thread until the transaction ends. Returns the message whose callback came before the answer to it; undefined without such a thread. */
  lock: sql.value<[threadId: string], string | null | undefined>(
    'remote_threads.lock',
    `select called_id from remote_threads where thread_id = :thread_id for update`,
  ),
  /** Locks all threads of an agent until the transaction ends. */
  lockOfAgent: sql.run<[agentId: string]>(
    'remote_threads.lock_of_agent',
    `select thread_id from remote_threads where agent_id = :agent_id order by thread_id for update`,
  ),
  /** A callback came in a locked thread: the task of its message is read at once, or when it is known. */
  setTaskDue: sql.run<[threadId: string, messageId: string, now: number]>(
    'remote_tasks.set_due(thread_id, message_id, now)',
    `with task as (
       update remote_tasks set poll_at = :now where thread_id = :thread_id and message_id = :message_id and poll_at is not null returning thread_id)
     update remote_threads r set poll_at = case when exists (select from task) then :now else r.poll_at end,
       called_id = case when exists (select from task) then r.called_id else :message_id end
     where r.thread_id = :thread_id`,
  ),
  /** The sequence of the first message that the remote agent has not accepted yet; undefined: none. */
  findSending: sql.value<[threadId: string], number | undefined>(
    'remote_threads.find_sending',
    `select m.sequence from remote_threads r join messages m on m.thread_id = r.thread_id and m.sequence > r.position and m.sender_id <> r.agent_id
     where r.thread_id = :thread_id order by m.sequence limit 1`,
  ),
  /** Which of these messages and artifacts of the remote side were applied. */
  listApplied: sql.values<[threadId: string, keys: readonly string[]], string>(
    'remote_updates.list(thread_id, keys)',
    `select key from remote_updates where thread_id = :thread_id and key = any(:keys::text[])`,
  ),
  /** Null: an update that became no message. Tasks of the thread whose items wait for one of them are read now. */
  addApplied: sql.run<
    [threadId: string, updates: readonly { key: string; message_id: string | null }[], now: number]
  >(
    'remote_updates.insert(thread_id, ..., now)',
    `with applied as (
       insert into remote_updates (thread_id, key, message_id) select :thread_id, unnest(:keys::text[]), unnest(:message_ids::text[]) on conflict do nothing)
     update remote_tasks set poll_at = :now, held_after = null
     where thread_id = :thread_id and poll_at is not null and held_after = any(:keys::text[])`,
    (thread_id, updates, now) => ({
      thread_id,
      now,
      keys: updates.map(({ key }) => key),
      message_ids: updates.map(({ message_id }) => message_id),
    }),
  ),
});
