import { isId } from '../../../packages/core/src/domain/ids.ts';
import { taskNotFound } from '../../../packages/core/src/policies/tasks.ts';
import type { ViewedTaskRow } from '../../repositories/tasks/tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';

/**
 * Returns a task of the actor, as its client or as the asked agent.
 * @throws {DomainError} TASK_NOT_FOUND, the same for an absent task and for one of others
 */
export async function requireTask(work: Work, id: string): Promise<ViewedTaskRow> {
  const task = isId('task', id) ? await work.db.tasks.find(id, work.actor.agent_id) : undefined;
  if (!task) throw taskNotFound();
  return task;
}

/** The thread of a task that the actor may see, for rate limits. */
export async function findThreadOfTask(work: Work, id: string): Promise<string | undefined> {
  return isId('task', id) ? (await work.db.tasks.find(id, work.actor.agent_id))?.thread_id : undefined;
}
