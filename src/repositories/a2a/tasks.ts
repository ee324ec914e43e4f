import type { TaskChange, TaskState } from '../../../packages/core/src/domain/tasks.ts';
import { repository, sql } from '../sql.ts';
import { taskMarks, taskParties, type ViewedTaskRow, viewedTaskColumns } from '../tasks/tasks.ts';

/** A task as its client sees it through A2A. */
export interface A2aTaskRow extends ViewedTaskRow {
  /** The message of the last change of its state; null without one. */
  status_message_id: string | null;
}

/** The client and the asked agent of tasks. */
interface Sides {
  client_id: string;
  agent_id: string;
}

export interface A2aTaskFilter extends Sides {
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
  created_at: number;
}

/** The sequence of the last message of the client. Needs tasks `t`. */
const lastOfClient = `coalesce((select max(k.sequence) from a2a_messages w join task_messages k on k.task_id = w.task_id and k.message_id = w.message_id
  where w.task_id = t.id), t.sequence)`;

/** A2A has no groups. Needs tasks `t`. */
const isOfTwo = `not exists (select from thread_members o where o.thread_id = t.thread_id and o.agent_id not in (t.client_id, t.agent_id))`;

/** Needs tasks `t`. */
const columns = `${viewedTaskColumns(':client_id', lastOfClient)},
  (select message_id from task_updates u where u.task_id = t.id and u.change = 'state' order by u.generation desc limit 1) as status_message_id`;

const filtered = `${isOfTwo} and t.client_id = :client_id and t.agent_id = :agent_id and (:thread_id::text is null or t.thread_id = :thread_id)
  and (:state::text is null or t.state = :state) and (:since::bigint is null or t.updated_at >= :since)`;

/** The tasks of one client with one agent. */
export const a2aTasksRepository = repository({
  find: sql.row<[id: string, sides: Sides], A2aTaskRow>(
    'a2a_tasks.find(id, ...)',
    `select ${columns} from tasks t ${taskParties} ${taskMarks} where t.id = :id and t.client_id = :client_id and t.agent_id = :agent_id and ${isOfTwo}`,
  ),
  /** Newest change first. */
  list: sql.rows<
    [filter: A2aTaskFilter, after: [updated_at: number, id: string] | null, limit: number],
    A2aTaskRow
  >(
    'a2a_tasks.list',
    `select ${columns} from tasks t ${taskParties} ${taskMarks}
     where ${filtered} and (:updated_at::bigint is null or (t.updated_at, t.id) < (:updated_at, :id))
     order by t.updated_at desc, t.id desc limit :limit`,
    (filter, after, limit) => ({ ...filter, updated_at: after?.[0] ?? null, id: after?.[1] ?? '', limit }),
  ),
  count: sql.value<[filter: A2aTaskFilter], number>(
    'a2a_tasks.count',
    `select count(*)::int from tasks t where ${filtered}`,
  ),
  /** The updates after a generation, in their order. */
  listUpdates: sql.rows<[taskId: string, after: number, limit: number], TaskUpdateRow>(
    'a2a_tasks.list_updates(task_id, after, limit)',
    `select generation, change, state, message_id, created_at from task_updates
     where task_id = :task_id and generation > :after order by generation limit :limit`,
  ),
});
