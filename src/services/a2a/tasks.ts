import type { DomainError } from '../../../packages/core/src/domain/errors.ts';
import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { TaskState } from '../../../packages/core/src/domain/tasks.ts';
import { taskNotFound } from '../../../packages/core/src/policies/tasks.ts';
import type { A2aTaskRow, TaskDetail, TaskOfSides, TaskUpdateRow } from '../../repositories/a2a/tasks.ts';
import type { ReadWork, Work } from '../../work/unit-of-work.ts';
import { parseAgentKey, requireAgents } from '../access.ts';
import { type PageRequest, readPage } from '../paging.ts';

/** A task as its client sees it. */
export type ClientTask = A2aTaskRow;

/** A task with one agent. */
export interface TaskOfAgent {
  /** Handle. */
  agent: string;
  task_id: string;
}

/** More updates are read with the next call. */
const maxUpdates = 100;

/** Only the status. */
const noDetail: TaskDetail = { last: 0, has_artifacts: false };

/**
 * Returns a task that the actor opened with this agent, also if the agent is hidden or retired by now.
 * @throws {DomainError} TASK_NOT_FOUND, the same for an absent task and for one of another client or agent; AGENT_NOT_FOUND
 */
export async function requireClientTask(
  work: Work,
  { task_id, agent }: TaskOfAgent,
  detail = noDetail,
): Promise<A2aTaskRow> {
  const sides = { client_id: work.actor.agent_id, agent: parseAgentKey(agent) };
  const task = isId('task', task_id) ? await work.db.a2aTasks.find({ task_id, ...sides }, detail) : undefined;
  return task ?? throwForAgent(work, agent, taskNotFound());
}

/** Throws an error, or AGENT_NOT_FOUND if the actor does not see the agent: what does not concern a task is not said of a hidden agent. */
export async function throwForAgent(work: Work, agent: string, error: DomainError): Promise<never> {
  await requireAgents(work, [agent]);
  throw error;
}

export interface ListClientTasks extends PageRequest, TaskDetail {
  agent: string;
  thread_id: string | null;
  state: TaskState | null;
  /** Milliseconds; null: any time. */
  since: number | null;
}

/**
 * Returns a page of the tasks that the actor opened with an agent, newest change first, and how many there are.
 * @throws {DomainError} AGENT_NOT_FOUND, INVALID_CURSOR
 */
export async function listClientTasks(work: Work, { last, has_artifacts, ...input }: ListClientTasks) {
  const { thread_id, state, since } = input;
  const [{ id: agent_id } = { id: '' }] = await requireAgents(work, [input.agent]);
  const filter = { client_id: work.actor.agent_id, agent_id, thread_id, state, since };
  const [page, total] = await Promise.all([
    readPage(work, input, {
      binding: ['a2a_tasks', agent_id, thread_id, state, since],
      rows: (after: readonly [number, string] | null, limit) =>
        work.db.a2aTasks.list(filter, { last, has_artifacts }, after && [after[0], after[1]], limit),
      position: ({ updated_at, id }): [number, string] => [updated_at, id],
    }),
    work.db.a2aTasks.count(filter),
  ]);
  return { tasks: page.rows, next_cursor: page.next_cursor, total };
}

/** A task with some of its updates, oldest first. */
export interface TaskUpdates {
  task: A2aTaskRow;
  updates: TaskUpdateRow[];
}

/**
 * Returns the updates of a task of the actor after a generation, at most 100.
 * @throws {DomainError} TASK_NOT_FOUND, AGENT_NOT_FOUND
 */
export async function readTaskUpdates(work: Work, of: TaskOfAgent, after: number): Promise<TaskUpdates> {
  return readUpdates(work.db, await requireClientTask(work, of), after);
}

/** Returns the updates of a task after a generation, at most 100; undefined if there is no such task of this client and agent. */
export async function findUpdates(
  db: ReadWork['db'],
  of: TaskOfSides,
  after: number,
  detail?: TaskDetail,
): Promise<TaskUpdates | undefined> {
  const task = await db.a2aTasks.find(of, detail ?? noDetail);
  return task && readUpdates(db, task, after);
}

async function readUpdates(db: ReadWork['db'], task: A2aTaskRow, after: number): Promise<TaskUpdates> {
  const updates = task.generation > after ? await db.a2aTasks.listUpdates(task.id, after, maxUpdates) : [];
  return { task, updates };
}
