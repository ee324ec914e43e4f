import type { ReceivedMessage } from '../../../packages/core/src/domain/a2a.ts';
import { type AttachmentColumns, filesOfMessages } from '../attachments/attachments.ts';
import type { MessageRow } from '../messages/messages.ts';
import { awaited } from '../remote/order.ts';
import { hideFromPlanner } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** A message that a client sent through A2A. */
export interface A2aMessage {
  client_id: string;
  agent_id: string;
  /** As the client names it. */
  client_message_id: string;
  task_id: string;
  message_id: string;
  digest: Buffer;
  /** The message as received, as JSON text; null if a person has edited it. */
  wire: string | null;
}

/** A message of a client to the agent of a handle. */
type MessageName = Pick<A2aMessage, 'client_id' | 'client_message_id'> & { handle: string };

/** A message that a client begins a task with. */
interface NewMessage extends MessageName {
  /** Its place in the list. */
  at: number;
  thread_id?: string | undefined;
  /** Of another installation, in place of `thread_id`: as it names the thread. */
  conversation?: string | undefined;
  /** Of another installation: the message before it, as it names it. */
  after?: string | undefined;
}

/** The agent that a client asks. */
export interface AskedAgent {
  agent_id: string;
  agent_handle: string;
  /** How many tasks of the client the agent has to answer. */
  open_tasks: number;
}

/** The thread of a message, and the asked agent. */
export interface MessagePlace extends AskedAgent {
  at: number;
  thread_id: string;
  /** Whether the message before it can still arrive. */
  is_awaited: boolean;
}

type SentMessage = Pick<A2aMessage, 'task_id' | 'digest'>;

/** A message of a task, with what A2A knows of it. */
export interface A2aMessageRow extends Pick<
  MessageRow,
  'id' | 'sender_id' | 'content' | 'content_type' | 'withdrawn_at'
> {
  attachments: AttachmentColumns[];
  artifact: boolean;
  data: unknown;
  client_message_id: string | null;
  /** Null for a message of `/v1`, a withdrawn one, and after the retention of messages. */
  wire: ReceivedMessage | null;
}

/** The last artifacts of a task that are shown. */
export const maxArtifacts = 100;

/**
 * The messages `k` of a task, as JSON. Each limit of 1 makes the planner use an index: it expects more rows than there are.
 * @param join left: a message that was removed has no id.
 */
const withContent = (k: string, join: 'cross' | 'left' = 'cross'): string => `(
  select m.id, k.sequence, m.sender_id, m.content, m.content_type, ${filesOfMessages} as attachments, m.withdrawn_at, k.artifact, k.data,
    w.client_message_id, w.wire
  from (${k}) k
  ${join} join lateral (select * from messages where id = k.message_id limit 1) m ${join === 'left' ? 'on true' : ''}
  left join lateral (select * from a2a_messages where task_id = k.task_id and message_id = k.message_id limit 1) w on true)`;

/** A message of a task as an `A2aMessageRow`, null without one. */
export const taskMessage = (taskId: string, messageId: string): string => `(select to_json(shown) from
  ${withContent(`select * from task_messages where task_id = ${taskId} and message_id = ${messageId}`)} shown)`;

/** The messages of tasks `t`, oldest first: the last ones, the last artifacts, and one by its id, for `TaskDetail`. A list of `A2aMessageRow`. */
export const messagesOf = (
  messageId: string,
): string => `(select coalesce(json_agg(shown order by shown.sequence), '[]') from
  ${withContent(`(select * from task_messages where task_id = t.id order by sequence desc limit ${hideFromPlanner(':last', 'int')})
    union (select * from task_messages where task_id = t.id and artifact and ${hideFromPlanner(':has_artifacts', 'boolean')} order by sequence desc limit ${maxArtifacts})
    union (select * from task_messages where task_id = t.id and message_id = ${messageId})`)} shown)`;

/** The last messages of tasks `t`, oldest first. If they are fewer than `maxArtifacts`, `messagesOf` can have no others. One that was removed has no id. */
export const lastMessagesOf = `(select coalesce(json_agg(shown order by shown.sequence), '[]') from
  ${withContent(`select * from task_messages where task_id = t.id order by sequence desc limit ${maxArtifacts}`, 'left')} shown)`;

/** The messages that clients sent through A2A. */
export const a2aMessagesRepository = repository({
  /** Until the transaction ends, no other one stores a message of this name. */
  lock: sql.run<[name: MessageName]>(
    'a2a_messages.lock',
    `select pg_advisory_xact_lock(hashtextextended('a2a:' || :client_id || ':' || :handle || ':' || :client_message_id, 0))`,
  ),
  /** As `lock`, of those that no other transaction has locked. Returns their places in the list. */
  tryLock: sql.values<[names: readonly (MessageName & { at: number })[]], number>(
    'a2a_messages.try_lock',
    `select at from json_to_recordset(:names) n (at int, client_id text, client_message_id text, handle text)
     where pg_try_advisory_xact_lock(hashtextextended('a2a:' || client_id || ':' || handle || ':' || client_message_id, 0))`,
    (names) => ({ names: JSON.stringify(names) }),
  ),
  /** The agent of this handle, with the message if it was sent before. */
  find: sql.row<[name: MessageName], AskedAgent & (SentMessage | { [Name in keyof SentMessage]: null })>(
    'a2a_messages.find',
    `select a.id as agent_id, a.canonical_handle as agent_handle, w.task_id, w.digest,
       (select count(*)::int from tasks where client_id = :client_id and agent_id = a.id and ended_at is null) as open_tasks
     from agents a
     left join a2a_messages w on w.client_id = :client_id and w.agent_id = a.id and w.client_message_id = :client_message_id
     where a.canonical_handle = :handle`,
  ),
  /**
   * Of messages that begin tasks, those that are new, in a thread that has both as members. The limit of 1 makes the planner use an index: it
   * expects more rows than there are.
   */
  listPlaces: sql.rows<[messages: readonly NewMessage[]], MessagePlace>(
    'a2a_messages.list_places',
    `select n.at, c.thread_id, a.id as agent_id, a.canonical_handle as agent_handle,
       (select count(*)::int from tasks where client_id = n.client_id and agent_id = a.id and ended_at is null) as open_tasks,
       n.after is not null and ${awaited('n.after', { threadId: 'c.thread_id', agentId: 'n.client_id' })} as is_awaited
     from json_to_recordset(:messages) n (at int, client_id text, client_message_id text, handle text, thread_id text, conversation text, after text)
     cross join lateral (select id, canonical_handle from agents where canonical_handle = n.handle limit 1) a
     cross join lateral (select coalesce(n.thread_id,
       (select thread_id from remote_conversations where agent_id = n.client_id and conversation = n.conversation), n.conversation) as thread_id) c
     where (select count(*) from thread_members where thread_id = c.thread_id and agent_id in (n.client_id, a.id)) = 2
       and not exists (select from a2a_messages w
         where w.client_id = n.client_id and w.agent_id = a.id and w.client_message_id = n.client_message_id)`,
    (messages) => ({ messages: JSON.stringify(messages) }),
  ),
  insert: sql.run<[messages: readonly A2aMessage[]]>(
    'a2a_messages.insert',
    `insert into a2a_messages (client_id, agent_id, client_message_id, task_id, message_id, digest, wire)
     select client_id, agent_id, client_message_id, task_id, message_id, decode(digest, 'base64'), wire::jsonb from json_to_recordset(:messages)
       m (client_id text, agent_id text, client_message_id text, task_id text, message_id text, digest text, wire text)`,
    (messages) => ({
      messages: JSON.stringify(messages.map((each) => ({ ...each, digest: each.digest.toString('base64') }))),
    }),
  ),
  /** Whether a thread is a context of A2A: it takes no further member. */
  isContext: sql.hasRow<[threadId: string]>(
    'a2a_messages.is_context',
    `select 1 from tasks t join a2a_messages w on w.task_id = t.id where t.thread_id = :thread_id limit 1`,
  ),
  /** Forgets the received form and the data of messages that are older than this id, up to `limit` of each; returns how many. */
  clearContent: sql.rowCount<[olderThan: string, limit: number]>(
    'a2a_messages.clear_content(older_than, limit)',
    `with received as (
       update a2a_messages set wire = null
       where message_id in (select message_id from a2a_messages where wire is not null and message_id < :older_than order by message_id limit :limit)
       returning 1
     ), data as (
       update task_messages set data = null
       where message_id in (select message_id from task_messages where data is not null and message_id < :older_than order by message_id limit :limit)
       returning 1
     )
     select from received union all select from data`,
  ),
});
