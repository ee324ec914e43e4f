import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { SystemWork } from '../../work/unit-of-work.ts';
import { requireConversation } from './conversations.ts';

/** How a person can mark a conversation, and take that back. */
export const markNames = ['done', 'open', 'mute', 'unmute'] as const;

export type MarkName = (typeof markNames)[number];

interface Mark {
  thread_id: string;
  mark: MarkName;
  /** The last message that the person has seen: a later one ends `done`. */
  sequence: number;
}

/**
 * Marks a conversation for one person. No agent and no other person learns of it.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function markConversation(
  work: SystemWork,
  account_id: string,
  { thread_id, mark, sequence }: Mark,
): Promise<void> {
  const { last_sequence } = await requireConversation(work, { account_id }, thread_id);
  if (sequence > last_sequence) throw new DomainError('VALIDATION_ERROR', 'Reload the page and try again.');
  const key = { account_id, thread_id };
  if (mark === 'mute' || mark === 'unmute')
    await work.db.threadMarks.setMuted({ ...key, muted: mark === 'mute' });
  else await work.db.threadMarks.setDone({ ...key, done_sequence: mark === 'done' ? sequence : null });
}
