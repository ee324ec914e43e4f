import { parseAgentKey, requireThread } from '../access.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { asksPerson } from '../../../packages/core/src/domain/threads.ts';
import {
  createTask,
  findAskedMember,
  requirePossibleDue,
  requireRoomForTask,
} from '../../../packages/core/src/policies/tasks.ts';
import type { ViewedTaskRow } from '../../repositories/tasks/tasks.ts';
import type { TaskRow } from '../../repositories/tasks/task-row.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type MessageDraft, sendMessage } from '../messages/send.ts';
import { createThread } from '../threads/threads.ts';
import { byActor, createTaskChanges, type TaskChanges } from './change.ts';

/** A question, with what its task needs. */
export interface Question {
  /** Undefined: a new thread with the asked agent. */
  thread_id: string | undefined;
  /** The asked agent: a member of the thread, or the other member of a new one. Undefined: the other member of a thread of two. */
  asked: string | undefined;
  /** Of a new thread. */
  subject: string | null;
  /** Of a new thread. */
  reason: string | undefined;
  draft: MessageDraft;
  due_in_seconds: number | undefined;
  accepted_output_modes: readonly string[];
}

/** A question that was asked, with its task if it opened one. */
export interface AskedTask {
  message: MessageRow;
  task: ViewedTaskRow | null;
}

type Member = Pick<ViewedTaskRow, 'id'> & { canonical_handle: string };

/**
 * Sends a message that asks, in a thread or in a new one, and opens its task.
 * @returns the message, and the task. The task is null in a group, unless a member is named.
 * @throws {DomainError} as `sendMessage` and `createThread`; AGENT_NOT_FOUND (no such member), VALIDATION_ERROR, RATE_LIMITED (too many open tasks)
 */
export async function openTask(work: Work, question: Question): Promise<AskedTask> {
  requirePossibleDue(question.due_in_seconds, work.settings.taskDays);
  const task = { opens: true };
  if (question.thread_id === undefined) {
    const { message, thread } = await createThread(work, {
      participants: [question.asked ?? ''],
      subject: question.subject,
      metadata: question.reason === undefined ? {} : { reason: question.reason },
      initial_message: { ...question.draft, task },
    });
    if (!message) throw new Error('a thread with a first message has that message');
    const agent = thread.members.find(({ id }) => id !== work.actor.agent_id);
    return { message, task: agent ? await insertTask(work, message, agent, question) : null };
  }
  const thread = await requireThread(work, question.thread_id, { lock: true });
  const others = thread.members.filter(({ id }) => id !== work.actor.agent_id);
  const agent = findAskedMember(others, question.asked, parseAgentKey);
  const message = await sendMessage(work, {
    ...question.draft,
    thread_id: thread.id,
    ...(agent && { task }),
  });
  return { message, task: agent ? await insertTask(work, message, agent, question) : null };
}

async function insertTask(
  work: Work,
  message: MessageRow,
  asked: Member,
  question: Question,
): Promise<ViewedTaskRow> {
  const { agent_id } = work.actor;
  const open = work.db.tasks.countOpen(agent_id, asked.id);
  const changes = createTaskChanges();
  const task = addTask(work, { ...question, message, asked }, changes);
  changes.write(work);
  const [openTasks, viewed] = await Promise.all([open, work.db.tasks.find(task.id, agent_id)]);
  requireRoomForTask(openTasks);
  if (!viewed) throw new Error('a task exists after its statement');
  return viewed;
}

interface NewTask extends Pick<Question, 'accepted_output_modes'> {
  /** Default: a new one. */
  id?: string;
  message: Omit<MessageRow, 'reply_to'>;
  asked: Member;
  due_in_seconds?: number | undefined;
  /** Whether the task ends at once, because no answer is expected. */
  isEnded?: boolean;
}

/** Adds the task of a sent question of the actor to the changes of its transaction. */
export function addTask(
  work: Work,
  { id = newId('task'), message, asked, due_in_seconds, accepted_output_modes, isEnded }: NewTask,
  changes: TaskChanges,
): TaskRow {
  const { agent_id, handle } = work.actor;
  const task: TaskRow = {
    ...createTask(
      {
        id,
        message,
        client: { id: agent_id, canonical_handle: handle },
        agent: asked,
        due_in_seconds,
        accepted_output_modes,
      },
      work.settings.taskDays,
    ),
    asks_person: asksPerson(message.metadata),
  };
  changes.open(work, task, { message_id: message.id, by: byActor(work) });
  changes.addMessage(task.id, message);
  if (isEnded === true) changes.move(work, task, { report: 'completed' }, { by: null });
  return task;
}
