import type { ReportedTaskState, TaskState } from '../../../packages/core/src/domain/tasks.ts';
import {
  requireAskedAgent,
  requireOpenTask,
  requireTaskClient,
  taskNotFound,
} from '../../../packages/core/src/policies/tasks.ts';
import type { ViewedTaskRow } from '../../repositories/tasks/tasks.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { requireCurrentLease } from '../inbox/access.ts';
import { lockThread, type MessageDraft, sendMessage } from '../messages/send.ts';
import { type PageRequest, readPage } from '../paging.ts';
import { requireTask } from './access.ts';
import { byActor, createTaskChanges, moveTask } from './change.ts';

const maxMessages = 100;

/** Returns a task with its last 100 messages, oldest first. @throws {DomainError} TASK_NOT_FOUND */
export async function readTask(work: Work, id: string) {
  const task = await requireTask(work, id);
  return { task, messages: await work.db.tasks.listMessages(task.id, maxMessages) };
}

export interface ListTasks extends PageRequest {
  role?: 'asked' | 'asking' | undefined;
  state?: TaskState | 'open' | undefined;
  thread_id?: string | undefined;
  overdue?: boolean | undefined;
}

/** Returns a page of the actor's tasks, newest change first. @throws {DomainError} INVALID_CURSOR */
export async function listTasks(work: Work, input: ListTasks) {
  const { role = null, state = null, thread_id = null, overdue = false } = input;
  return readPage(work, input, {
    binding: ['list_tasks', role, state, thread_id, ...(overdue ? ['overdue'] : [])],
    rows(last: readonly [number, string] | null, limit) {
      const after = last && { updated_at: last[0], id: last[1] };
      return work.db.tasks.list(work.actor.agent_id, { role, state, thread_id, overdue, after, limit });
    },
    position: ({ updated_at, id }) => [updated_at, id],
  });
}

export interface TaskReport {
  task_id: string;
  state: ReportedTaskState;
  message: Pick<MessageDraft, 'content' | 'content_type' | 'attachment_ids'> | null;
  /** JSON text. */
  data: string | null;
  artifact: boolean;
  lease_id: string | undefined;
}

/**
 * Reports the state of a task as its asked agent, with a message if there is one: both, or nothing. The thread is locked before the task, and
 * the task before the item of a lease, as in every change of a task.
 * @returns the task, and the id of the message; null without one
 * @throws {DomainError} TASK_NOT_FOUND, FORBIDDEN (the client), INVALID_TRANSITION (it has ended), LEASE_NOT_FOUND, LEASE_LOST, and as `sendMessage`
 */
export async function updateTask(
  work: Work,
  report: TaskReport,
): Promise<{ task: ViewedTaskRow; message_id: string | null }> {
  const { state, artifact, data, lease_id } = report;
  const found = await requireTask(work, report.task_id);
  requireAskedAgent(found, work.actor.agent_id);
  const task = report.message ? await lockOpenTask(work, found) : await lockTask(work, found);
  requireOpenTask(task);
  const sent =
    report.message &&
    (await sendMessage(work, {
      ...report.message,
      thread_id: task.thread_id,
      reply_to: await findQuestion(work, task),
      metadata: {},
      task: { none: true },
    }));
  const origin = { by: byActor(work), ...(sent && { message_id: sent.id }) };
  const changes = createTaskChanges();
  if (sent) changes.addMessage(task.id, sent, { artifact, data });
  if (sent && artifact) changes.record(work, task, 'result', origin);
  changes.move(work, task, { report: state }, origin);
  changes.write(work);
  if (lease_id !== undefined) await requireCurrentLease(work, lease_id);
  return { task: { ...found, ...task }, message_id: sent?.id ?? null };
}

/** The id of the message that asks; null after the retention of messages has removed it. The task stays open. */
async function findQuestion({ db }: Work, { thread_id, message_id }: TaskRow): Promise<string | null> {
  const [question] = await db.messageBatches.listReplyTargets([{ thread_id, id: message_id }]);
  return question?.id ?? null;
}

/**
 * Cancels a task as its client. A canceled one stays as it is.
 * @throws {DomainError} TASK_NOT_FOUND, FORBIDDEN (the asked agent), INVALID_TRANSITION (it has ended otherwise)
 */
export async function cancelTask(work: Work, id: string): Promise<ViewedTaskRow> {
  const found = await requireTask(work, id);
  requireTaskClient(found, work.actor.agent_id);
  const task = await lockTask(work, found);
  if (task.state === 'canceled') return { ...found, ...task };
  requireOpenTask(task);
  moveTask(work, task, 'cancel', { by: byActor(work) });
  return { ...found, ...task };
}

async function lockTask(work: Work, { id }: Pick<TaskRow, 'id'>): Promise<TaskRow> {
  const [task] = await work.db.tasks.lock([id]);
  if (!task) throw taskNotFound();
  return task;
}

/**
 * Locks the thread of a task, and then all its open tasks in the order of their ids, for a message of the actor: a send locks them all.
 * @throws {DomainError} INVALID_TRANSITION (the task has ended), TASK_NOT_FOUND
 */
export async function lockOpenTask(work: Work, found: Pick<TaskRow, 'id' | 'thread_id'>): Promise<TaskRow> {
  await lockThread(work, found.thread_id);
  const open = await work.db.tasks.lockOpenInThread(found.thread_id);
  const task = open.find(({ id }) => id === found.id) ?? (await lockTask(work, found));
  requireOpenTask(task);
  return task;
}
