import { maxSequence } from '../../../packages/core/src/domain/threads.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { readRelationships, requireThread } from '../access.ts';

/**
 * A thread with its latest messages, oldest first, each with the relationship of its sender to the actor.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function readThread(
  work: Work,
  input: { thread_id: string; limit: number; before_sequence?: number | undefined },
) {
  const thread = await requireThread(work, input.thread_id);
  const range = {
    below: input.before_sequence ?? maxSequence,
    above: 0,
    order: 'desc' as const,
    limit: input.limit,
  };
  const rows = await work.db.messages.list(thread, range);
  const relationships = await readRelationships(
    work,
    rows.map((row) => row.sender_id),
  );
  const messages = rows
    .toReversed()
    .map((row) => ({ ...row, relationship: relationships.get(row.sender_id) ?? ('none' as const) }));
  return { thread, messages, earlier: (messages[0]?.sequence ?? 1) > 1 };
}
