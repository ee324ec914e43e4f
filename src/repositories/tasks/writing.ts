import type { TaskChange } from '../../../packages/core/src/domain/tasks.ts';
import { deliveryOf, taskMarks, type TaskRow } from './task-row.ts';

/** A row of updates. */
export interface NewTaskUpdate extends Pick<TaskRow, 'state' | 'generation'> {
  task_id: string;
  change: TaskChange;
  message_id: string | null;
  by_id: string | null;
  created_at: number;
}

/** That a message belongs to a task. */
export interface TaskMessage {
  task_id: string;
  message_id: string;
  sequence: number;
  artifact: boolean;
  /** JSON text. */
  data: string | null;
}

/** What one statement writes of tasks. */
export interface TaskWrites {
  /** New tasks of locked threads, as they are now. */
  opened: readonly TaskRow[];
  changed: readonly TaskRow[];
  updates: readonly NewTaskUpdate[];
  messages: readonly TaskMessage[];
}

/** The statement for `TaskWrites`. */
export const writing = `with opened as (
   insert into tasks (id, thread_id, message_id, sequence, client_id, agent_id, state, generation, due_at, accepted_output_modes, asks_person, created_at, updated_at, expires_at, ended_at)
   select id, thread_id, message_id, sequence, client_id, agent_id, state, generation, due_at, accepted_output_modes, asks_person, created_at, updated_at, expires_at, ended_at
   from json_populate_recordset(null::tasks, :opened)
 ), flagged as (
   update threads set has_questions = true
   where id = any(array(select thread_id from json_populate_recordset(null::tasks, :opened) where ended_at is null))
 ), changed as (
   update tasks t set state = n.state, generation = n.generation, overdue_at = n.overdue_at, lease_token = n.lease_token,
     updated_at = n.updated_at, expires_at = n.expires_at, ended_at = n.ended_at,
     ended_delivery = case when n.state = 'canceled' then (select ${deliveryOf('t.sequence')} from (select 1) one ${taskMarks}) end
   from json_populate_recordset(null::tasks, :changed) n
   -- The planner expects a hundred rows of JSON, and would read all tasks for them.
   where t.id = n.id and t.id = any(array(select id from json_populate_recordset(null::tasks, :changed)))
 ), message as (
   insert into task_messages (task_id, message_id, sequence, artifact, data)
   select task_id, message_id, sequence, artifact, data::jsonb
   from json_to_recordset(:messages) m (task_id text, message_id text, sequence int, artifact boolean, data text)
 )
 insert into task_updates (task_id, generation, change, state, message_id, by_id, created_at)
 select task_id, generation, change, state, message_id, by_id, created_at from json_populate_recordset(null::task_updates, :updates)`;

/** Each part as JSON text. */
export const toJson = ({ opened, changed, updates, messages }: TaskWrites) => ({
  opened: JSON.stringify(opened),
  changed: JSON.stringify(changed),
  updates: JSON.stringify(updates),
  messages: JSON.stringify(messages),
});
