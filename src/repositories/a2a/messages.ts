import type { ReceivedMessage } from '../../../packages/core/src/domain/a2a.ts';
import { type AttachmentColumns, filesOfMessages } from '../attachments/attachments.ts';
import type { MessageRow } from '../messages/messages.ts';
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
const maxArtifacts = 100;

/** The messages `k` of a task, as JSON. Each limit of 1 makes the planner use an index: it expects more rows than there are. */
const withContent = (k: string): string => `(
  select m.id, k.sequence, m.sender_id, m.content, m.content_type, ${filesOfMessages} as attachments, m.withdrawn_at, k.artifact, k.data,
    w.client_message_id, w.wire
  from (${k}) k
  cross join lateral (select * from messages where id = k.message_id limit 1) m
  left join lateral (select * from a2a_messages where task_id = k.task_id and message_id = k.message_id limit 1) w on true)`;

/** A message of a task as an `A2aMessageRow`, null without one. */
export const taskMessage = (taskId: string, messageId: string): string => `(select to_json(shown) from
  ${withContent(`select * from task_messages where task_id = ${taskId} and message_id = ${messageId}`)} shown)`;

/** The messages of tasks `t`, oldest first: the last ones, the last artifacts, and one by its id, for `TaskDetail`. A list of `A2aMessageRow`. */
export const messagesOf = (
  messageId: string,
): string => `(select coalesce(json_agg(shown order by shown.sequence), '[]') from
  ${withContent(`(select * from task_messages where task_id = t.id order by sequence desc limit :last)
    union (select * from task_messages where task_id = t.id and artifact and :has_artifacts::boolean order by sequence desc limit ${maxArtifacts})
    union (select * from task_messages where task_id = t.id and message_id = ${messageId})`)} shown)`;

/** The messages that clients sent through A2A. */
export const a2aMessagesRepository = repository({
  /** Until the transaction ends, no other one stores a message of this name. */
  lock: sql.run<[name: MessageName]>(
    'a2a_messages.lock',
    `select pg_advisory_xact_lock(hashtextextended('a2a:' || :client_id || ':' || :handle || ':' || :client_message_id, 0))`,
  ),
  /** The agent of this handle, with the message if it was sent before. */
  find: sql.row<
    [name: MessageName],
    { agent_id: string } & (SentMessage | { [Name in keyof SentMessage]: null })
  >(
    'a2a_messages.find',
    `select a.id as agent_id, w.task_id, w.digest from agents a
     left join a2a_messages w on w.client_id = :client_id and w.agent_id = a.id and w.client_message_id = :client_message_id
     where a.canonical_handle = :handle`,
  ),
  insert: sql.run<[message: A2aMessage]>(
    'a2a_messages.insert',
    `insert into a2a_messages (client_id, agent_id, client_message_id, task_id, message_id, digest, wire)
     values (:client_id, :agent_id, :client_message_id, :task_id, :message_id, :digest, :wire::jsonb)`,
  ),
  /** Whether a thread is a context of A2A: it takes no further member. */
  isContext: sql.hasRow<[threadId: string]>(
    'a2a_messages.is_context',
    `select 1 from tasks t join a2a_messages w on w.task_id = t.id where t.thread_id = :thread_id limit 1`,
  ),
  /** Forgets the received form of messages that are older than this id; returns how many. */
  clearWire: sql.rowCount<[olderThan: string, limit: number]>(
    'a2a_messages.clear_wire(older_than, limit)',
    `update a2a_messages set wire = null
     where message_id in (select message_id from a2a_messages where wire is not null and message_id < :older_than order by message_id limit :limit)
     returning 1`,
  ),
});
