import { findTaskOf, isOpenTask, type ReportedTaskState } from '../../../packages/core/src/domain/tasks.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { ExpectedReply } from '../../repositories/tasks/expected-replies.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { byActor, type TaskChanges } from './change.ts';

/** What a message does to the tasks of its thread, besides the default. */
export interface TaskEffect {
  /** Whether it opens a task: it belongs to another one only by an explicit reply. `ended`: one that ends at once. */
  opens?: boolean | 'ended';
  /** The message is sent only if this agent is the only other member. */
  asked_id?: string;
  /** The state that the sender reports with it. Default: completed. */
  state?: ReportedTaskState;
  /** The task that it belongs to. Default: that of the message that it replies to. */
  task_id?: string;
  /** Whether the caller changes the task itself. */
  none?: boolean;
}

/** The open questions of a locked thread, while messages are added to it. */
export interface ThreadQuestions {
  /** Locked, oldest first. */
  open: TaskRow[];
  /** What messages without a task expect. */
  expected: ExpectedReply[];
  /** The task of each message that is replied to. */
  taskOfMessage: ReadonlyMap<string, string>;
}

/**
 * Reads the open questions of locked threads, and locks their tasks.
 * @param options.wait whether to wait for tasks that another transaction has locked; otherwise their threads are left out.
 * @returns them by thread
 */
export async function lockQuestions(
  { db: { tasks, expectedReplies } }: Work,
  threadIds: readonly string[],
  repliedIds: readonly string[],
  options: { wait: boolean },
): Promise<Map<string, ThreadQuestions>> {
  if (threadIds.length === 0) return new Map();
  const [links, open, expected] = await Promise.all([
    repliedIds.length > 0 ? tasks.listMessageTasks(repliedIds) : [],
    tasks.lockOpenInThreads(threadIds, options),
    expectedReplies.listInThreads(threadIds),
  ]);
  const taskOfMessage = new Map(links.map(({ message_id, task_id }) => [message_id, task_id]));
  const questions = [...open].map(([id, tasksOfThread]): [string, ThreadQuestions] => [
    id,
    { open: tasksOfThread, expected: expected.filter(({ thread_id }) => thread_id === id), taskOfMessage },
  ]);
  return new Map(questions);
}

interface SentMessage {
  id: string;
  sequence: number;
  sender_id: string;
  reply_to: string | null;
  replaces?: string | null;
}

/** Whether a thread has no open question. */
export const hasNoQuestion = ({ open, expected }: ThreadQuestions): boolean =>
  open.length + expected.length === 0;

/** What a message does to the questions of its thread. */
interface Answering {
  /** The changes of the transaction. */
  changes: TaskChanges;
  effect: TaskEffect;
  isThreadOfTwo: boolean;
}

/** Applies a message to the open questions of its thread: to the task that it belongs to, and to what other messages expect. */
export function applyMessage(
  work: Work,
  questions: ThreadQuestions,
  message: SentMessage,
  answering: Answering,
): void {
  if (!answering.effect.none) moveTaskOf(work, questions, message, answering);
  answerExpected(work, questions, message, answering);
}

/** In a thread of two a message answers all that is expected of its sender, in a group what it replies to. */
function answerExpected(
  work: Work,
  { expected }: ThreadQuestions,
  { sender_id, reply_to }: SentMessage,
  { isThreadOfTwo }: Answering,
): void {
  const answered = expected.filter(
    (reply) => reply.asked_id === sender_id && (isThreadOfTwo || reply.message_id === reply_to),
  );
  if (answered.length === 0) return;
  const ids = new Set(answered.map(({ message_id }) => message_id));
  work.changes.defer(work.db.expectedReplies.removeOfMessages([...ids]));
}

/**
 * Adds a message that replaces one of an open task to that task. In place of the question, it asks now. The answer of the client moves a task
 * that waits for it; the asked agent has not answered by it.
 * @returns whether there is such a task
 */
function replaceInTask(
  work: Work,
  { open, taskOfMessage }: ThreadQuestions,
  { id, sequence, sender_id, replaces }: SentMessage,
  changes: TaskChanges,
): boolean {
  const task_id = taskOfMessage.get(replaces ?? '');
  const task = open.find((each) => each.id === task_id && isOpenTask(each.state));
  if (!task) return false;
  const origin = { message_id: id, by: byActor(work) };
  const { generation } = task;
  changes.addMessage(task.id, { id, sequence });
  const isQuestion = task.message_id === replaces;
  if (isQuestion) {
    Object.assign(task, { message_id: id, sequence });
    work.changes.defer(work.db.tasks.setQuestion(task));
  }
  if (task.client_id === sender_id) changes.move(work, task, 'client_message', origin);
  if (isQuestion && task.generation === generation) changes.record(work, task, 'state', origin);
  return true;
}

/** Adds a message to the task that it belongs to, and moves that task. */
function moveTaskOf(
  work: Work,
  questions: ThreadQuestions,
  sent: SentMessage,
  { changes, effect, isThreadOfTwo }: Answering,
): void {
  if (replaceInTask(work, questions, sent, changes)) return;
  const { open, taskOfMessage } = questions;
  const { id, sequence, sender_id, reply_to } = sent;
  const replied_task_id =
    effect.task_id ?? (reply_to === null ? null : (taskOfMessage.get(reply_to) ?? null));
  const message = { sender_id, replied_task_id, opens_task: Boolean(effect.opens) };
  const stillOpen = open.filter(({ state }) => isOpenTask(state));
  const task = findTaskOf(message, stillOpen, isThreadOfTwo);
  if (!task) return;
  const origin = { message_id: id, by: byActor(work) };
  const isAnswer = task.agent_id === sender_id;
  const state = effect.state ?? 'completed';
  const artifact = isAnswer && state === 'completed';
  changes.addMessage(task.id, { id, sequence }, { artifact });
  if (artifact) changes.record(work, task, 'result', origin);
  changes.move(work, task, isAnswer ? { report: state } : 'client_message', origin);
}
