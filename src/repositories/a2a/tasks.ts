import type { TaskChange, TaskDelivery, TaskState } from '../../../packages/core/src/domain/tasks.ts';
import { hideFromPlanner } from '../queryable.ts';
import { repository, sql } from '../sql.ts';
import { type A2aMessageRow, lastMessagesOf, maxArtifacts, messagesOf, taskMessage } from './messages.ts';
import { deliveryOf, taskMarks, type TaskRow } from '../tasks/task-row.ts';

/** A task as its client sees it through A2A. */
export interface A2aTaskRow extends Pick<
  TaskRow,
  'id' | 'thread_id' | 'client_id' | 'agent_id' | 'state' | 'generation' | 'updated_at' | 'expires_at'
> {
  /** Null for a brief task. */
  delivery: TaskDelivery | null;
  /** The message of the last change of its state; null without one. */
  status_message_id: string | null;
  /** The messages that were requested, oldest first, and always that of its status. */
  messages: A2aMessageRow[];
  /** The position of the client's feed when the task was read, or one before it: every later change of the task has an event after it. */
  feed_number: number;
}

/** A brief task. */
interface BriefRow extends Omit<A2aTaskRow, 'messages' | 'delivery' | 'feed_number'> {
  messages: (A2aMessageRow | { id: null })[];
}

/** What to read of tasks besides their status. */
export interface TaskDetail {
  /** How many of the last messages. */
  last: number;
  has_artifacts: boolean;
  /** Whether neither the delivery nor the position of the feed is needed. */
  is_brief?: boolean;
}

/** A task of one client with one agent. */
export interface TaskOfSides {
  task_id: string;
  client_id: string;
  /** Its id or its canonical handle. */
  agent: string;
}

export interface A2aTaskFilter {
  client_id: string;
  agent_id: string;
  thread_id: string | null;
  state: TaskState | null;
  /** Milliseconds; null: any time. */
  since: number | null;
}

/** A row of updates. */
export interface TaskUpdateRow {
  generation: number;
  change: TaskChange;
  state: TaskState;
  message_id: string | null;
  message: A2aMessageRow | null;
  created_at: number;
}

/** A2A has no groups. Needs tasks `t`. */
const isOfTwo = `not exists (select from thread_members o where o.thread_id = t.thread_id and o.agent_id not in (t.client_id, t.agent_id))`;

/** Of tasks `t` with `lastStatus`. */
const fields =
  't.id, t.thread_id, t.client_id, t.agent_id, t.state, t.generation, t.updated_at, t.expires_at, s.message_id as status_message_id';

const lastStatus = `left join lateral (
    select u.message_id from task_updates u where u.task_id = t.id and u.change = 'state' order by u.generation desc limit 1) s on true`;

/** Needs tasks `t` with `sources`. */
const columns = `${fields}, coalesce(t.ended_delivery, ${deliveryOf('coalesce(l.sequence, t.sequence)')}) as delivery,
  ${messagesOf('s.message_id')} as messages, (select last_number from feed_heads where agent_id = :client_id) as feed_number`;

/** With the last message of the client. */
const sources = `${taskMarks}
  left join lateral (select max(k.sequence) as sequence from a2a_messages w
    join task_messages k on k.task_id = w.task_id and k.message_id = w.message_id where w.task_id = t.id) l on true ${lastStatus}`;

const isOfSides = `t.id = :task_id and t.client_id = :client_id and ${isOfTwo}
  and ${hideFromPlanner(':agent', 'text')} in (t.agent_id, (select a.canonical_handle from agents a where a.id = t.agent_id))`;

const filtered = `${isOfTwo} and t.client_id = :client_id and t.agent_id = :agent_id and (:thread_id::text is null or t.thread_id = :thread_id)
  and (:state::text is null or t.state = :state) and (:since::bigint is null or t.updated_at >= :since)`;

/** The tasks of one client with one agent. */
export const a2aTasksRepository = repository(
  {
    findWhole: sql.row<[of: TaskOfSides, detail: TaskDetail], A2aTaskRow>(
      'a2a_tasks.find(..., ...)',
      `select ${columns} from tasks t ${sources} where ${isOfSides}`,
    ),
    findBrief: sql.row<[of: TaskOfSides], BriefRow>(
      'a2a_tasks.find_brief(...)',
      `select ${fields}, ${lastMessagesOf} as messages from tasks t ${lastStatus} where ${isOfSides}`,
    ),
    /** Newest change first. */
    list: sql.rows<
      [
        filter: A2aTaskFilter,
        detail: TaskDetail,
        after: [updated_at: number, id: string] | null,
        limit: number,
      ],
      A2aTaskRow
    >(
      'a2a_tasks.list',
      `select ${columns}
     from (select * from tasks t
       where ${filtered} and (:updated_at::bigint is null or (t.updated_at, t.id) < (:updated_at, :id))
       order by t.updated_at desc, t.id desc limit :limit) t ${sources}
     order by t.updated_at desc, t.id desc`,
      (filter, detail, after, limit) => ({
        ...filter,
        ...detail,
        updated_at: after?.[0] ?? null,
        id: after?.[1] ?? '',
        limit,
      }),
    ),
    count: sql.value<[filter: A2aTaskFilter], number>(
      'a2a_tasks.count',
      `select count(*)::int from tasks t where ${filtered}`,
    ),
    /** The updates after a generation with the messages that they name, in their order. */
    listUpdates: sql.rows<[taskId: string, after: number, limit: number], TaskUpdateRow>(
      'a2a_tasks.list_updates(task_id, after, limit)',
      `select u.generation, u.change, u.state, u.message_id, ${taskMessage('u.task_id', 'u.message_id')} as message, u.created_at
     from task_updates u where u.task_id = :task_id and u.generation > :after order by u.generation limit ${hideFromPlanner(':limit', 'int')}`,
    ),
  },
  (_, { findWhole, findBrief }) => ({
    /** A brief task with all its detail costs two thirds of others, unless it has many messages. */
    async find(of: TaskOfSides, detail: TaskDetail): Promise<A2aTaskRow | undefined> {
      const { last, has_artifacts, is_brief } = detail;
      if (is_brief !== true || !has_artifacts || last < maxArtifacts) return findWhole(of, detail);
      const task = await findBrief(of);
      if (!task || task.messages.length >= maxArtifacts) return task && findWhole(of, detail);
      const messages = task.messages.filter((message): message is A2aMessageRow => message.id !== null);
      return { ...task, messages, delivery: null, feed_number: 0 };
    },
  }),
);
