import {
  type TaskDelivery,
  taskDeliveries,
  type TaskState,
} from '../../../packages/core/src/domain/tasks.ts';
import { repository, sql } from '../sql.ts';
import { type NextInThread, nextInThread } from './next-in-thread.ts';

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
  /** When a task is read next; null: none is open. */
  poll_at: number | null;
}

export type RemoteThreadState = Omit<RemoteThreadRow, 'thread_id' | 'agent_id' | 'conversation'>;

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
  /** Null: it has ended. */
  poll_at: number | null;
  /** The message for which one of its items waits; null: none. */
  held_after: string | null;
}

/** Where a message belongs. */
export interface MessagePlace {
  /** The task here that it opens or belongs to. */
  task_id: string | null;
  /** The remote task that it continues. */
  remote_task_id: string | null;
}

const columns = `r.thread_id, r.agent_id, r.position, r.context_id, r.attempts, r.begun_id, r.next_at, r.poll_at,
  coalesce((select c.conversation from remote_conversations c where c.thread_id = r.thread_id), r.thread_id) as conversation`;
const taskColumns = `k.thread_id, k.remote_task_id, k.message_id, k.task_id, k.state, k.generation, k.polls, k.cancel_sent, k.poll_at, k.held_after`;

/** Needs remote tasks `k`: it is canceled here, and the remote side does not know. */
const isToCancel = `k.poll_at is not null and not k.cancel_sent and exists (select from tasks t where t.id = k.task_id and t.state = 'canceled')`;

/** Needs `remote_threads r` and `threads t`: something is to be sent. */
const hasOutgoing = `(r.position < t.last_sequence or exists (select from remote_tasks k where k.thread_id = r.thread_id and ${isToCancel}))`;

/** Threads with something to do at `:now`. */
const due = `remote_threads r join threads t on t.id = r.thread_id where r.next_at <= :now and (r.poll_at <= :now or ${hasOutgoing})`;

/** Statements that use the index of threads with work name it with this condition. */
const hasWork = `(r.position < r.last_sequence or r.poll_at is not null)`;

/**
 * Notes the last sequences of the threads `:thread_ids`, as a part of a statement: a message that is not noted is one whose event was not
 * delivered. Rows are locked in one order.
 */
export const notingSequences = `noted as (
  update remote_threads r set last_sequence = l.last_sequence
  from (select r.thread_id, t.last_sequence from remote_threads r join threads t on t.id = r.thread_id
        where r.thread_id = any(:thread_ids) and r.last_sequence < t.last_sequence order by 1 for update of r) l
  where r.thread_id = l.thread_id)`;

/** Those of the threads `:thread_ids` from which something is to be sent, and that no process has. */
export const outgoingOfThreads = `select r.thread_id from remote_threads r join threads t on t.id = r.thread_id
  where r.thread_id = any(:thread_ids) and r.next_at <= :now and ${hasOutgoing}`;

const levels = `array['${taskDeliveries.join("', '")}']`;

/**
 * The last message that was sent before the first accepted one of a thread that is still in one of these states. One index entry for each state.
 * An answer between them travels as an update of its task: it counts with the next message that was sent.
 */
const markOf = (states: readonly TaskDelivery[]): string => {
  const first = (state: TaskDelivery) =>
    `(select min(sequence) from remote_messages where thread_id = :thread_id and outcome = 'accepted' and delivery = '${state}')`;
  return `coalesce((select max(sequence) from remote_messages
    where thread_id = :thread_id and sequence < coalesce(least(${states.map(first).join(', ')}), 2147483647)), 0)`;
};

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
  /** No other process gets the thread for `leaseMs`. Undefined while another one has it, or before it is due. */
  claim: sql.row<[threadId: string, now: number, leaseMs: number], RemoteThreadRow>(
    'remote_threads.claim(thread_id, now, lease_ms)',
    `update remote_threads r set next_at = :now::bigint + :lease_ms::bigint where r.thread_id = :thread_id and r.next_at <= :now returning ${columns}`,
  ),
  /** Stores the state of a claimed thread. Returns false if the lease has ended. */
  store: sql.hasRow<[threadId: string, lease: number, state: RemoteThreadState]>(
    'remote_threads.store(thread_id, lease, ...)',
    `update remote_threads set position = :position, context_id = :context_id, attempts = :attempts, begun_id = :begun_id, next_at = :next_at,
       poll_at = (select min(poll_at) from remote_tasks k where k.thread_id = :thread_id)
     where thread_id = :thread_id and next_at = :lease returning thread_id`,
  ),
  /** All threads of the agent may be attempted now. */
  setDue: sql.values<[agentId: string, now: number], string>(
    'remote_threads.set_due(agent_id, now)',
    `update remote_threads set next_at = least(next_at, :now), attempts = 0 where agent_id = :agent_id returning thread_id`,
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
  isDue: sql.hasRow<[threadId: string, now: number]>(
    'remote_threads.is_due(thread_id, now)',
    `select 1 from ${due} and r.thread_id = :thread_id`,
  ),
  /** A message continues the remote task of its task, or else one without a task here that waits for input. */
  findPlace: sql.single<[threadId: string, messageId: string], MessagePlace>(
    'remote_threads.find_place(thread_id, message_id)',
    `select t.task_id, k.remote_task_id
     from (select (select task_id from task_messages where message_id = :message_id limit 1) as task_id) t
     left join lateral (select k.remote_task_id from remote_tasks k where k.thread_id = :thread_id and k.poll_at is not null
       and (k.task_id = t.task_id or t.task_id is null and k.task_id is null and k.state = 'input_required') limit 1) k on true`,
  ),
  /** What a turn does next; all of it as at one time. */
  peek: sql.single<
    [thread: Pick<RemoteThreadRow, 'thread_id' | 'agent_id' | 'position'>, now: number],
    NextInThread
  >('remote_threads.peek', nextInThread(isToCancel), ({ thread_id, agent_id, position }, now) => ({
    thread_id,
    agent_id,
    position,
    now,
  })),
  addMessage: sql.run<[message: RemoteMessageRow]>(
    'remote_messages.insert',
    `insert into remote_messages (message_id, thread_id, sequence, outcome, remote_task_id, delivery, error, created_at)
     values (:message_id, :thread_id, :sequence, :outcome, :remote_task_id, :delivery, :error, :created_at)
     on conflict (message_id) do nothing`,
    ({ error, ...message }) => ({ ...message, error: error && JSON.stringify(error) }),
  ),
  /** Inserts a task, or stores what it has become. */
  putTask: sql.run<[task: RemoteTaskRow]>(
    'remote_tasks.put',
    `insert into remote_tasks (thread_id, remote_task_id, message_id, task_id, state, generation, polls, cancel_sent, poll_at, held_after)
     values (:thread_id, :remote_task_id, :message_id, :task_id, :state, :generation, :polls, :cancel_sent, :poll_at, :held_after)
     on conflict (thread_id, remote_task_id) do update set state = excluded.state, generation = excluded.generation, polls = excluded.polls,
       cancel_sent = excluded.cancel_sent, poll_at = excluded.poll_at, held_after = excluded.held_after`,
  ),
  findTask: sql.row<[threadId: string, remoteTaskId: string], RemoteTaskRow>(
    'remote_tasks.find(thread_id, remote_task_id)',
    `select ${taskColumns} from remote_tasks k where k.thread_id = :thread_id and k.remote_task_id = :remote_task_id`,
  ),
  /** When a task of the thread is read next; null: none. */
  nextPoll: sql.value<[threadId: string], number | null>(
    'remote_tasks.next_poll',
    `select min(poll_at) from remote_tasks where thread_id = :thread_id`,
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
  /** The remote agent has done this with the messages of a task. `isMark`: and with those before, because its side counts the marks of the thread. */
  setDelivery: sql.run<[threadId: string, remoteTaskId: string, delivery: TaskDelivery, isMark: boolean]>(
    'remote_messages.set_delivery(thread_id, remote_task_id, delivery, is_mark)',
    `with last as (select max(sequence) as sequence from remote_messages where thread_id = :thread_id and remote_task_id = :remote_task_id)
     update remote_messages m set delivery = :delivery from last
     where m.thread_id = :thread_id and m.outcome = 'accepted' and m.delivery = any((${levels})[1: array_position(${levels}, :delivery::text) - 1])
       and (m.remote_task_id = :remote_task_id or :is_mark::boolean and m.sequence <= last.sequence)`,
  ),
  /** The sequence of the first message that the remote agent has not accepted yet; undefined: none. */
  findSending: sql.value<[threadId: string], number | undefined>(
    'remote_threads.find_sending',
    `select m.sequence from remote_threads r join messages m on m.thread_id = r.thread_id and m.sequence > r.position and m.sender_id <> r.agent_id
     where r.thread_id = :thread_id order by m.sequence limit 1`,
  ),
  /** The newest messages before a sequence that were not delivered, newest first. */
  listUndelivered: sql.rows<[threadId: string, below: number, limit: number], UndeliveredMessage>(
    'remote_messages.list_undelivered(thread_id, below, limit)',
    `select message_id, sequence, outcome, error, created_at as failed_at from remote_messages
     where thread_id = :thread_id and sequence < :below and outcome <> 'accepted' order by sequence desc limit :limit`,
  ),
  /** Whether the remote agent got a message after those of a task. */
  hasLater: sql.hasRow<[threadId: string, remoteTaskId: string]>(
    'remote_messages.has_later(thread_id, remote_task_id)',
    `select 1 from remote_messages m where m.thread_id = :thread_id and m.outcome = 'accepted' and m.sequence >
       (select max(sequence) from remote_messages o where o.thread_id = :thread_id and o.remote_task_id = :remote_task_id) limit 1`,
  ),
  /** The sequence up to which all messages are delivered, read and handled; 0: none. */
  readMarks: sql.single<[threadId: string], { delivered: number; read: number; handled: number }>(
    'remote_messages.read_marks',
    `select ${markOf(['stored'])} as delivered, ${markOf(['stored', 'delivered'])} as read, ${markOf(['stored', 'delivered', 'read'])} as handled`,
  ),
  /** Moves the marks of the remote agent forward. Returns those that moved; the others are null. */
  moveMarks: sql.row<
    [thread: { thread_id: string; agent_id: string }, marks: { read: number; handled: number }],
    { read_sequence: number | null; handled_sequence: number | null }
  >(
    'remote_threads.move_marks(..., ...)',
    `with before as (
       select handled_sequence, read_sequence from thread_members where thread_id = :thread_id and agent_id = :agent_id for no key update
     ), moved as (
       update thread_members m set handled_sequence = greatest(m.handled_sequence, :handled::int), read_sequence = greatest(m.read_sequence, :read::int)
       from before b where m.thread_id = :thread_id and m.agent_id = :agent_id and (b.handled_sequence < :handled or b.read_sequence < :read)
     )
     select case when :read > b.read_sequence then :read::int end as read_sequence, case when :handled > b.handled_sequence then :handled::int end as handled_sequence
     from before b`,
  ),
  /** Which of these messages and artifacts of the remote side were applied. */
  listApplied: sql.values<[threadId: string, keys: readonly string[]], string>(
    'remote_updates.list(thread_id, keys)',
    `select key from remote_updates where thread_id = :thread_id and key = any(:keys::text[])`,
  ),
  addApplied: sql.run<[threadId: string, keys: readonly string[]]>(
    'remote_updates.insert(thread_id, keys)',
    `insert into remote_updates (thread_id, key) select :thread_id, unnest(:keys::text[]) on conflict do nothing`,
  ),
});
