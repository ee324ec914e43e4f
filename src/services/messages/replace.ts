import { withdrawnTopic } from '../../../packages/core/src/domain/withdrawals.ts';
import type { MessageRow } from '../../repositories/messages/messages.ts';
import type { ReplacedRow } from '../../repositories/messages/withdrawals.ts';
import type { Work } from '../../work/unit-of-work.ts';
import { removeMessageFromInboxes } from '../inbox/end-leases.ts';

/** Reads the messages that messages of locked threads replace, by id. Without any, there is no statement. */
export async function loadReplaced(
  { db: { messageWithdrawals } }: Work,
  messages: readonly { replaces?: string | null }[],
): Promise<Map<string, ReplacedRow>> {
  const ids = messages.flatMap(({ replaces }) => replaces ?? []);
  const rows = ids.length === 0 ? [] : await messageWithdrawals.listReplaced(ids);
  return new Map(rows.map((row) => [row.id, row]));
}

/** Connects a message that was sent with the one that it replaces: no claim returns that one any more, and it expects no reply. */
export async function markReplaced(
  work: Work,
  old: ReplacedRow,
  { id }: Pick<MessageRow, 'id'>,
  members: readonly string[],
): Promise<void> {
  const { messageWithdrawals, expectedReplies } = work.db;
  work.changes.defer(messageWithdrawals.replace(old.id, id));
  work.changes.defer(expectedReplies.removeOfMessages([old.id]));
  await removeMessageFromInboxes(work, old, members);
  work.changes.publish({ topic: withdrawnTopic, body: old.id });
}
