import { toNoticeJob } from '../../../packages/core/src/domain/notifications.ts';
import { nextTaskState } from '../../../packages/core/src/domain/tasks.ts';
import { causeOfClosing, causeOfLeaving } from '../../../packages/core/src/policies/tasks.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { byActor, createTaskChanges, moveTask } from './change.ts';

/** Ends the open tasks of a thread that the actor closes. The caller has locked the thread. */
export async function endTasksOfThread(work: Work, thread_id: string): Promise<void> {
  for (const task of await work.db.tasks.lockOpenInThread(thread_id))
    moveTask(work, task, causeOfClosing(task, work.actor.agent_id), { by: byActor(work) });
  await work.db.expectedReplies.removeOfThread(thread_id);
}

/** Ends the open tasks of a member that leaves a thread, or that the actor removes. The caller has locked the thread. */
export async function endTasksOfMember(work: Work, thread_id: string, member_id: string): Promise<void> {
  for (const task of await work.db.tasks.lockOpenInThread(thread_id)) {
    const cause = causeOfLeaving(task, member_id, work.actor.agent_id);
    if (cause) moveTask(work, task, cause, { by: byActor(work) });
  }
  await work.db.expectedReplies.removeOfMember(thread_id, member_id);
}

/** Ends the open tasks of an agent that retires: no agent answers them any more, or waits for the answer. */
export async function endTasksOfAgent(work: SystemWork, agent_id: string): Promise<void> {
  const ids = await work.db.tasks.listOpenOf(agent_id);
  for (const task of await work.db.tasks.lock(ids))
    moveTask(work, task, task.agent_id === agent_id ? 'fail' : 'cancel', { by: null });
  await work.db.expectedReplies.removeOfAgent(agent_id);
}

/**
 * Moves tasks whose leases have ended without an answer back to `submitted`. They are locked.
 * @param ended the ended leases of the agent.
 */
export async function returnTasks(
  work: SystemWork,
  ended: readonly { task_id: string | null; fencing_token: number }[],
): Promise<void> {
  const tokens = new Map(
    ended.flatMap(({ task_id, fencing_token }) => (task_id ? [[task_id, fencing_token]] : [])),
  );
  if (tokens.size === 0) return;
  for (const task of await work.db.tasks.lock([...tokens.keys()]))
    if (task.lease_token === tokens.get(task.id)) moveTask(work, task, 'lease_end', { by: null });
}

/** Moves the tasks of claimed messages to `working`. @returns them */
export async function startTasks(
  work: Work,
  claimed: readonly { task_id: string | null; fencing_token: number }[],
): Promise<TaskRow[]> {
  const tokens = new Map(claimed.map(({ task_id, fencing_token }) => [task_id, fencing_token]));
  tokens.delete(null);
  if (tokens.size === 0) return [];
  const tasks = await work.db.tasks.lock([...tokens.keys()].flatMap((id) => id ?? []));
  for (const task of tasks) {
    if (nextTaskState(task.state, 'claim') === task.state) continue;
    task.lease_token = tokens.get(task.id) ?? null;
    moveTask(work, task, 'claim', { by: byActor(work) });
  }
  return tasks;
}

/** Fails a task whose dead item leaves the inbox, and locks it. */
export async function failTask(work: SystemWork, task_id: string): Promise<void> {
  for (const task of await work.db.tasks.lock([task_id])) moveTask(work, task, 'fail', { by: null });
}

/** Marks tasks as overdue, and ends those whose time is over. @returns whether there may be more */
export async function sweepTasks(work: SystemWork, limit: number): Promise<boolean> {
  const due = await work.db.tasks.lockDue(work.now, limit);
  const changes = createTaskChanges();
  for (const task of due) {
    task.overdue_at = work.now;
    changes.record(work, task, 'overdue', { by: null });
    work.changes.enqueue(toNoticeJob(task.agent_id, task.id));
  }
  changes.write(work);
  const expired = await work.db.tasks.lockExpired(work.now, limit);
  for (const task of expired) moveTask(work, task, 'fail', { by: null });
  return due.length === limit || expired.length === limit;
}
