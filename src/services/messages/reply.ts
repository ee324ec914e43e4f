import type { Work } from '../../work/unit-of-work.ts';
import { readRelationships, requireThread } from '../access.ts';

/** Messages that are read at a time. */
const pageSize = 20;

/**
 * The first message of another member after a sequence, with the relationship of its sender to the actor.
 * @returns null when there is none yet
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function findReply(work: Work, input: { thread_id: string; after_sequence: number }) {
  const thread = await requireThread(work, input.thread_id);
  for (let above = input.after_sequence; above < thread.last_sequence;) {
    const range = { above, below: thread.last_sequence + 1, order: 'asc' as const, limit: pageSize };
    const rows = await work.messages.list(thread, range);
    const reply = rows.find(({ sender_id }) => sender_id !== work.actor.agent_id);
    if (reply) {
      const relationships = await readRelationships(work, [reply.sender_id]);
      return { ...reply, relationship: relationships.get(reply.sender_id) ?? ('none' as const) };
    }
    above = rows.at(-1)?.sequence ?? thread.last_sequence;
  }
  return null;
}
