import type { ReceivedMessage } from '../../../packages/core/src/domain/a2a.ts';
import { type MessageRow, messageColumns } from '../messages/messages.ts';
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
  /** The message as received, as JSON text. */
  wire: string;
}

/** A message of a task, with what A2A knows of it. */
export interface A2aMessageRow extends MessageRow {
  task_id: string;
  artifact: boolean;
  data: unknown;
  client_message_id: string | null;
  /** Null for a message of `/v1`, and after the retention of messages. */
  wire: ReceivedMessage | null;
}

/** Which messages of tasks to read, besides those by id. */
export interface A2aMessageFilter {
  task_ids: readonly string[];
  /** How many of the last messages of each task. */
  last: number;
  hasArtifacts: boolean;
  message_ids: readonly string[];
}

/** The last artifacts of a task that are shown. */
const maxArtifacts = 100;

/** Messages of tasks as clients of A2A see them. */
export const a2aMessagesRepository = repository({
  /** Until the transaction ends, no other one stores a message of this name. */
  lock: sql.run<[client: Pick<A2aMessage, 'client_id' | 'agent_id' | 'client_message_id'>]>(
    'a2a_messages.lock',
    `select pg_advisory_xact_lock(hashtextextended('a2a:' || :client_id || ':' || :agent_id || ':' || :client_message_id, 0))`,
  ),
  find: sql.row<
    [message: Pick<A2aMessage, 'client_id' | 'agent_id' | 'client_message_id'>],
    Pick<A2aMessage, 'task_id' | 'digest'>
  >(
    'a2a_messages.find',
    `select task_id, digest from a2a_messages
     where client_id = :client_id and agent_id = :agent_id and client_message_id = :client_message_id`,
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
  /**
   * Messages of tasks, oldest first: the last ones of each task, its artifacts, and those by id. Each limit of 1 makes the planner use an index:
   * it expects more rows than there are.
   */
  list: sql.rows<[filter: A2aMessageFilter], A2aMessageRow>(
    'a2a_messages.list',
    `select k.task_id, ${messageColumns}, k.artifact, k.data, w.client_message_id, w.wire
     from unnest(${hideFromPlanner(':task_ids', 'text[]')}) t(id) cross join lateral (
       (select * from task_messages where task_id = t.id order by sequence desc limit :last)
       union (select * from task_messages where task_id = t.id and artifact and :has_artifacts::boolean order by sequence desc limit ${maxArtifacts})
       union (select * from task_messages where task_id = t.id and message_id = any(${hideFromPlanner(':message_ids', 'text[]')}))
     ) k
     cross join lateral (select * from messages where id = k.message_id limit 1) m
     cross join lateral (select * from agents where id = m.sender_id limit 1) a
     left join lateral (select * from a2a_messages where task_id = k.task_id and message_id = k.message_id limit 1) w on true
     order by k.task_id, k.sequence`,
    ({ hasArtifacts, ...filter }) => ({ ...filter, has_artifacts: hasArtifacts }),
  ),
});
