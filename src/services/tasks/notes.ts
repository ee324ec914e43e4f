import { isOpenTask } from '../../../packages/core/src/domain/tasks.ts';
import type { TaskRow } from '../../repositories/tasks/tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** A message that may ask the actor. */
interface AskingMessage {
  id: string;
  thread_id: string;
}

const toText = (time: number): string => new Date(time).toISOString();

/** Says to the asked agent who waits for its answer to a message, and how to end the task. Undefined for a task that has ended. */
export function describeOpenTask(task: TaskRow): string | undefined {
  if (!isOpenTask(task.state)) return undefined;
  const { id, client_handle, created_at, due_at, overdue_at } = task;
  const due = overdue_at === null ? 'and wants it until' : 'and wanted it until';
  const until = due_at === null ? '' : ` ${due} ${toText(due_at)}`;
  return `${client_handle} waits for your answer since ${toText(created_at)}${until}. A reply completes the task ${id}; report other states with update_task.`;
}

/** The notes to those of these messages that ask the actor in an open task, by message. One query for all of them. */
export async function readTaskNotes(
  { db, actor }: Work,
  messages: readonly AskingMessage[],
): Promise<Map<string, string>> {
  if (messages.length === 0) return new Map();
  const ids = messages.map(({ id }) => id);
  const threadIds = [...new Set(messages.map(({ thread_id }) => thread_id))];
  const tasks = await db.tasks.listOpenOfMessages(actor.agent_id, ids, threadIds);
  return new Map(tasks.map((task) => [task.message_id, describeOpenTask(task) ?? '']));
}
