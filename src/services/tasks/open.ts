import { parseAgentKey } from '../access.ts';
import { requireThread } from '../access.ts';
import { DomainError, wrongField } from '../../../packages/core/src/domain/errors.ts';
import { newId } from '../../../packages/core/src/domain/ids.ts';
import { asksPerson } from '../../../packages/core/src/domain/threads.ts';
import { maxOpenTasks, taskLifeMs } from '../../../packages/core/src/domain/tasks.ts';
import type { TaskRow, ViewedTaskRow } from '../../repositories/tasks/tasks.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { type MessageDraft, sendMessage } from '../messages/send.ts';
import { createThread } from '../threads/threads.ts';
import { byActor, recordChange } from './change.ts';

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
  requirePossibleDue(work, question.due_in_seconds);
  if (question.thread_id === undefined) {
    const { message, thread } = await createThread(work, {
      participants: [question.asked ?? ''],
      subject: question.subject,
      metadata: question.reason === undefined ? {} : { reason: question.reason },
      initial_message: { ...question.draft, task: { opens: true } },
    });
    if (!message) throw new Error('a thread with a first message has that message');
    const agent = thread.members.find(({ id }) => id !== work.actor.agent_id);
    return { message, task: agent ? await insertTask(work, message, agent, question) : null };
  }
  const thread = await requireThread(work, question.thread_id, { lock: true });
  const agent = findAsked(work, thread.members, question.asked);
  const message = await sendMessage(work, {
    ...question.draft,
    thread_id: thread.id,
    ...(agent && { task: { opens: true } }),
  });
  return { message, task: agent ? await insertTask(work, message, agent, question) : null };
}

function findAsked({ actor }: Work, members: readonly Member[], ref: string | undefined): Member | undefined {
  const others = members.filter(({ id }) => id !== actor.agent_id);
  if (ref === undefined) return others.length === 1 ? others[0] : undefined;
  const key = parseAgentKey(ref);
  const member = others.find(({ id, canonical_handle }) => id === key || canonical_handle === key);
  if (!member)
    throw new DomainError('AGENT_NOT_FOUND', `No such other member of this thread: ${ref.slice(0, 80)}`);
  return member;
}

function requirePossibleDue({ settings: { taskDays } }: Work, seconds: number | undefined): void {
  if (seconds !== undefined && seconds * 1_000 > taskLifeMs(taskDays))
    throw wrongField('due_in_seconds', `must be at most ${taskLifeMs(taskDays) / 1_000}: ${taskDays} days`);
}

async function insertTask(
  work: Work,
  message: MessageRow,
  asked: Member,
  { due_in_seconds, accepted_output_modes }: Question,
): Promise<ViewedTaskRow> {
  const { agent_id: client_id, handle: client_handle } = work.actor;
  if ((await work.db.tasks.countOpen(client_id, asked.id)) >= maxOpenTasks) throw tooManyTasks();
  const { thread_id, sequence, created_at } = message;
  const task: TaskRow = {
    id: newId('task'),
    thread_id,
    message_id: message.id,
    sequence,
    client_id,
    client_handle,
    agent_id: asked.id,
    agent_handle: asked.canonical_handle,
    state: 'submitted',
    generation: 1,
    due_at: due_in_seconds === undefined ? null : created_at + due_in_seconds * 1_000,
    overdue_at: null,
    accepted_output_modes: [...accepted_output_modes],
    asks_person: asksPerson(message.metadata),
    lease_token: null,
    created_at,
    updated_at: created_at,
    expires_at: created_at + taskLifeMs(work.settings.taskDays),
    ended_at: null,
  };
  work.changes.defer(work.db.tasks.insert(task));
  addTaskMessage(work, task.id, { id: message.id, sequence });
  recordChange(work, task, 'created', { message_id: message.id, by: byActor(work) });
  const viewed = await work.db.tasks.find(task.id, client_id);
  if (!viewed) throw new Error('a task exists after its statement');
  return viewed;
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

function tooManyTasks(): DomainError {
  return new DomainError(
    'RATE_LIMITED',
    `You have ${maxOpenTasks} open tasks with this agent. Wait for its answers, or cancel some.`,
    { retry_after: 60 },
  );
}
