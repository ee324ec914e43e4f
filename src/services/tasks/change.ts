import type { TaskCause, TaskChange } from '../../../packages/core/src/domain/tasks.ts';
import { advanceTask, setTaskState } from '../../../packages/core/src/policies/tasks.ts';
import type { TaskRow } from '../../repositories/tasks/tasks.ts';
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

/**
 * Applies a cause to a locked task. Without a new state, nothing happens, unless the agent reports its state again, with a message or in
 * place of a lease.
 */
export function moveTask(work: SystemWork, task: TaskRow, cause: TaskCause, origin: Origin): void {
  if (setTaskState(task, cause, origin.message_id !== undefined)) recordChange(work, task, 'state', origin);
}

/** Writes the next generation of a locked task, with its row of updates and its event. */
export function recordChange(
  work: SystemWork,
  task: TaskRow,
  change: TaskChange,
  { message_id = null, by }: Origin,
): void {
  advanceTask(task, change, { now: work.now, taskDays: work.settings.taskDays });
  work.changes.defer(work.db.tasks.save({ ...task }, { change, message_id, by_id: by?.id ?? null }));
  work.changes.emit({
    type: 'task.updated',
    thread_id: task.thread_id,
    recipients: [task.client_id, task.agent_id],
    data: { task: { ...task }, change, message_id, by },
  });
}

/** Notes that a message belongs to a task. */
export function addTaskMessage(
  work: Work,
  task_id: string,
  { id: message_id, sequence }: { id: string; sequence: number },
  { artifact = false, data = null }: { artifact?: boolean; data?: string | null } = {},
): void {
  work.changes.defer(work.db.tasks.addMessage({ task_id, message_id, sequence, artifact, data }));
}
