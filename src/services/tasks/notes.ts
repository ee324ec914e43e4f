import { describeOpenTask } from '../../../packages/core/src/policies/tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';

/** A message that may ask the actor. */
interface AskingMessage {
  id: string;
  thread_id: string;
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
