import type { Relationship } from '../../../packages/core/src/domain/agents/agents.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { ViewedTaskRow } from '../../repositories/tasks/tasks.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { readRelationships, requireThread } from '../access.ts';
import { requireTask } from '../tasks/access.ts';

/** A question that waits for a reply. */
export interface AskedQuestion {
  thread_id: string;
  after_sequence: number;
  /** The task of the question, if it has one. */
  task_id?: string | undefined;
  /** Whether only messages of the task are replies. */
  is_only_in_task?: boolean | undefined;
}

/** The reply to a question, and its task. */
export interface FoundReply {
  /** With the relationship of its sender to the actor; null when there is none yet. */
  reply: (MessageRow & { relationship: Relationship }) | null;
  /** The task as it is now; null without one. */
  task: ViewedTaskRow | null;
}

/**
 * Returns the first message of another member after a sequence, and the task of the question.
 * @throws {DomainError} THREAD_NOT_FOUND; TASK_NOT_FOUND
 */
export async function findReply(
  work: Work,
  { thread_id, after_sequence, task_id, is_only_in_task = false }: AskedQuestion,
): Promise<FoundReply> {
  const task = task_id === undefined ? null : await requireTask(work, task_id);
  const row =
    task && is_only_in_task
      ? await findInTask(work, task, after_sequence)
      : await findInThread(work, thread_id, after_sequence);
  if (!row) return { reply: null, task };
  const relationships = await readRelationships(work, [row.sender_id]);
  return { reply: { ...row, relationship: relationships.get(row.sender_id) ?? 'none' }, task };
}

async function findInThread(work: Work, thread_id: string, after_sequence: number) {
  const { id, last_sequence } = await requireThread(work, thread_id);
  if (after_sequence >= last_sequence) return undefined;
  return work.db.messages.findFirstOfOthers(id, after_sequence, work.actor.agent_id);
}

function findInTask({ db, actor }: Work, { id }: ViewedTaskRow, after_sequence: number) {
  return db.tasks.findFirstOfOthers(id, after_sequence, actor.agent_id);
}
