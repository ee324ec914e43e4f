import type { TaskCause, TaskChange } from '../../../packages/core/src/domain/tasks.ts';
import { advanceTask, setTaskState } from '../../../packages/core/src/policies/tasks.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { NewTaskUpdate, TaskMessage } from '../../repositories/tasks/writing.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';

/** What caused a change of a task. */
interface Origin {
  /** The message that caused it. */
  message_id?: string | null;
  /** The agent that caused it; null for the service. */
  by: { id: string; canonical_handle: string } | null;
}

/** The acting agent of a unit of work, as the origin of a change. */
export const byActor = ({ actor }: Pick<Work, 'actor'>) => ({
  id: actor.agent_id,
  canonical_handle: actor.handle,
});

/** Changes of tasks in one transaction. `write` sends them with one statement. */
export type TaskChanges = ReturnType<typeof createTaskChanges>;

/** Collects changes of locked tasks. Each method gets the unit of work that causes the change. */
export function createTaskChanges() {
  const opened = new Set<TaskRow>();
  const changed = new Set<TaskRow>();
  const updates: NewTaskUpdate[] = [];
  const messages: TaskMessage[] = [];

  /** Writes the next generation of a task, with its row of updates and its event. */
  function record(
    work: SystemWork,
    task: TaskRow,
    change: TaskChange,
    { message_id = null, by }: Origin,
  ): void {
    advanceTask(task, change, { now: work.now, taskDays: work.settings.taskDays });
    if (!opened.has(task)) changed.add(task);
    const { id: task_id, generation, state, updated_at: created_at } = task;
    updates.push({ task_id, generation, change, state, message_id, by_id: by?.id ?? null, created_at });
    work.changes.emit({
      type: 'task.updated',
      thread_id: task.thread_id,
      recipients: [task.client_id, task.agent_id],
      data: { task: { ...task }, change, message_id, by },
    });
  }

  return {
    record,
    /** Adds a new task. */
    open(work: SystemWork, task: TaskRow, origin: Origin): void {
      opened.add(task);
      record(work, task, 'created', origin);
    },
    /**
     * Applies a cause. Without a new state, nothing happens, unless the agent reports its state again, with a message or in place of a lease.
     */
    move(work: SystemWork, task: TaskRow, cause: TaskCause, origin: Origin): void {
      if (setTaskState(task, cause, origin.message_id !== undefined)) record(work, task, 'state', origin);
    },
    /** Notes that a message belongs to a task. */
    addMessage(
      task_id: string,
      { id: message_id, sequence }: { id: string; sequence: number },
      { artifact = false, data = null }: { artifact?: boolean; data?: string | null } = {},
    ): void {
      messages.push({ task_id, message_id, sequence, artifact, data });
    },
    /** The statement travels with the commit. */
    write(work: SystemWork): void {
      if (updates.length + messages.length === 0) return;
      const rows = { opened: [...opened], changed: [...changed], updates, messages };
      work.changes.defer(work.db.tasks.write(rows));
    },
  };
}

/** Applies one cause to a locked task, as `move`. */
export function moveTask(work: SystemWork, task: TaskRow, cause: TaskCause, origin: Origin): void {
  const changes = createTaskChanges();
  changes.move(work, task, cause, origin);
  changes.write(work);
}
