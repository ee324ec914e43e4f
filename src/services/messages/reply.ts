import type { Work } from '../../work/unit-of-work.ts';
import { readRelationships, requireThread } from '../access.ts';

/**
 * The first message of another member after a sequence, with the relationship of its sender to the actor.
 * @returns null when there is none yet
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function findReply(work: Work, input: { thread_id: string; after_sequence: number }) {
  const { id, last_sequence } = await requireThread(work, input.thread_id);
  if (input.after_sequence >= last_sequence) return null;
  const reply = await work.db.messages.findFirstOfOthers(id, input.after_sequence, work.actor.agent_id);
  if (!reply) return null;
  const relationships = await readRelationships(work, [reply.sender_id]);
  return { ...reply, relationship: relationships.get(reply.sender_id) ?? ('none' as const) };
}
