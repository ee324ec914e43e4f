import { isId } from '../../../packages/core/src/domain/ids.ts';
import type { TaskState } from '../../../packages/core/src/domain/tasks.ts';
import { taskNotFound } from '../../../packages/core/src/policies/tasks.ts';
import type { A2aMessageRow } from '../../repositories/a2a/messages.ts';
import type { A2aTaskRow, TaskUpdateRow } from '../../repositories/a2a/tasks.ts';
import type { ReadWork, Work } from '../../work/unit-of-work.ts';
import { type PageRequest, readPage } from '../paging.ts';

/** A task with the messages that are shown of it, oldest first. */
export interface ClientTask {
  task: A2aTaskRow;
  messages: A2aMessageRow[];
}

/** What to read of tasks besides their status. */
export interface TaskDetail {
  /** How many of the last messages. */
  last: number;
  hasArtifacts: boolean;
}

/** A task of one agent. */
export interface TaskOfAgent {
  agent_id: string;
  task_id: string;
}

/** More updates are read with the next call. */
const maxUpdates = 100;

/**
 * Returns a task that the actor opened with this agent.
 * @throws {DomainError} TASK_NOT_FOUND, the same for an absent task and for one of another client or agent
 */
export async function requireClientTask(work: Work, { task_id, agent_id }: TaskOfAgent): Promise<A2aTaskRow> {
  const sides = { client_id: work.actor.agent_id, agent_id };
  const task = isId('task', task_id) ? await work.db.a2aTasks.find(task_id, sides) : undefined;
  if (!task) throw taskNotFound();
  return task;
}

/** Returns a task with its messages. @throws {DomainError} TASK_NOT_FOUND */
export async function readClientTask(work: Work, of: TaskOfAgent, detail: TaskDetail): Promise<ClientTask> {
  const task = await requireClientTask(work, of);
  return { task, messages: await readMessages(work.db, [task], detail) };
}

/** Reads the messages of tasks, and always those of their status. */
export async function readMessages(
  db: ReadWork['db'],
  tasks: readonly A2aTaskRow[],
  detail: TaskDetail,
): Promise<A2aMessageRow[]> {
  const message_ids = tasks.flatMap(({ status_message_id: id }) => id ?? []);
  if (tasks.length === 0 || (detail.last === 0 && !detail.hasArtifacts && message_ids.length === 0))
    return [];
  return db.a2aMessages.list({ task_ids: tasks.map(({ id }) => id), message_ids, ...detail });
}

export interface ListClientTasks extends PageRequest, TaskDetail {
  agent_id: string;
  thread_id: string | null;
  state: TaskState | null;
  /** Milliseconds; null: any time. */
  since: number | null;
}

/** Returns a page of the tasks that the actor opened with an agent, newest change first, and how many there are. @throws {DomainError} INVALID_CURSOR */
export async function listClientTasks(work: Work, { last, hasArtifacts, ...input }: ListClientTasks) {
  const { agent_id, thread_id, state, since } = input;
  const filter = { client_id: work.actor.agent_id, agent_id, thread_id, state, since };
  const [page, total] = await Promise.all([
    readPage(work, input, {
      binding: ['a2a_tasks', agent_id, thread_id, state, since],
      rows: (after: readonly [number, string] | null, limit) =>
        work.db.a2aTasks.list(filter, after && [after[0], after[1]], limit),
      position: ({ updated_at, id }): [number, string] => [updated_at, id],
    }),
    work.db.a2aTasks.count(filter),
  ]);
  const messages = await readMessages(work.db, page.rows, { last, hasArtifacts });
  const tasks = page.rows.map((task): ClientTask => ({
    task,
    messages: messages.filter(({ task_id }) => task_id === task.id),
  }));
  return { tasks, next_cursor: page.next_cursor, total };
}

/** Updates of a task with the messages that they name. */
export interface TaskUpdates {
  task: A2aTaskRow;
  updates: TaskUpdateRow[];
  messages: A2aMessageRow[];
}

/**
 * Returns the updates of a task of the actor after a generation, at most 100, and the position of the client's feed before: every later change
 * of the task has an event after it.
 * @throws {DomainError} TASK_NOT_FOUND
 */
export async function readTaskUpdates(
  { db, actor: { agent_id: client_id } }: Work,
  of: TaskOfAgent,
  after: number,
): Promise<TaskUpdates & { feed_number: number }> {
  const [bounds] = await db.feed.readBounds([client_id]);
  const found = await readUpdates(db, { ...of, client_id }, after);
  if (!found) throw taskNotFound();
  return { ...found, feed_number: bounds?.last_number ?? 0 };
}

/** Returns the updates of a task after a generation, at most 100; undefined if there is no such task of this client and agent. */
export async function readUpdates(
  db: ReadWork['db'],
  { task_id, client_id, agent_id }: TaskOfAgent & { client_id: string },
  after: number,
): Promise<TaskUpdates | undefined> {
  const task = isId('task', task_id) ? await db.a2aTasks.find(task_id, { client_id, agent_id }) : undefined;
  if (!task) return undefined;
  const updates = task.generation > after ? await db.a2aTasks.listUpdates(task.id, after, maxUpdates) : [];
  const message_ids = updates.flatMap(({ message_id }) => message_id ?? []);
  const messages =
    message_ids.length === 0
      ? []
      : await db.a2aMessages.list({ task_ids: [task.id], last: 0, hasArtifacts: false, message_ids });
  return { task, updates, messages };
}
