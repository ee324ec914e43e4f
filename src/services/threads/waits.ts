import type { WaitRow } from '../../repositories/threads/waits.ts';
import type { WaitState } from '../../../packages/core/src/domain/threads.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { ReadWork, SystemWork } from '../../work/unit-of-work.ts';
import type { ConversationReader } from './conversations.ts';

/** One agent waits for the answer of another. */
export interface QuestionWait extends WaitRow {
  /** What keeps the other agent from answering. */
  wait_state: WaitState;
}

const dayMs = 24 * 60 * 60 * 1_000;
const maxAgeMs = 30 * dayMs;
const maxQuestions = 500;

/**
 * Returns who waits for whose answer, for the agents of a reader, the longest wait first: at most 500 open questions of the last 30 days. Those
 * are open tasks, and messages that expect a reply.
 */
export async function listWaits(
  { db: { waits } }: ReadWork,
  reader: ConversationReader,
): Promise<QuestionWait[]> {
  const now = Date.now();
  const rows = await waits.list(reader, { since: now - maxAgeMs, now, limit: maxQuestions });
  return rows.map((row) => ({ ...row, wait_state: findState(row, rows) }));
}

/**
 * Ends what a message expects, because its sender needs no answer any more.
 * @throws {DomainError} MESSAGE_NOT_FOUND: it is not a message of this sender that expects a reply
 */
export async function stopExpecting(
  { db: { expectedReplies } }: SystemWork,
  { message_id, sender_id }: { message_id: string; sender_id: string },
): Promise<void> {
  if ((await expectedReplies.removeOfSender(message_id, sender_id)) === 0)
    throw new DomainError('MESSAGE_NOT_FOUND', 'This message expects no reply any more.');
}

function findState(row: WaitRow, rows: readonly WaitRow[]): WaitState {
  if (row.needs_person) return 'waits_for_person';
  const waitsForThird = rows.some(
    ({ sender_id, member_id }) => sender_id === row.member_id && member_id !== row.sender_id,
  );
  if (waitsForThird) return 'waits_for_agent';
  return row.is_online ? 'silent' : 'offline';
}
