import type { DeliveredMark, FeedRange } from '../../../packages/core/src/domain/feed/receipts.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { requireThread } from '../access.ts';

/** Deliveries that transports have observed since the last batch. */
export interface DeliveredBatch {
  /** The delivered sequence of members of threads. */
  marks: readonly DeliveredMark[];
  /** Ranges of feeds that agents have acknowledged. */
  acknowledged?: readonly FeedRange[];
}

/**
 * Moves delivered marks forward: never back, never beyond a thread's latest message, and only of current members. Messages that a member
 * has read count as delivered. The senders of newly delivered messages receive one event per thread. Any number of threads and members
 * takes the same few statements. It waits only for transactions that move the same marks.
 */
export async function recordDeliveries(work: SystemWork, taken: DeliveredBatch): Promise<void> {
  const { acknowledged = [] } = taken;
  const marks = [...taken.marks];
  if (acknowledged.length > 0) marks.push(...(await work.db.feed.readMarks(acknowledged)));
  if (marks.length === 0) return;
  const moved = await work.db.threadMembers.markDelivered(marks);
  if (moved.length === 0) return;
  const senders = groupByThread(await work.db.threadMembers.lockSenders(moved));
  for (const [thread_id, members] of groupByThread(moved)) {
    const recipients = senders.get(thread_id)?.map(({ agent_id }) => agent_id) ?? [];
    if (recipients.length === 0) continue;
    const data = {
      thread_id,
      delivered_at: work.now,
      members: members.map(({ agent_id, canonical_handle, up_to_sequence }) => ({
        id: agent_id,
        canonical_handle,
        up_to_sequence,
      })),
    };
    work.changes.emit({ type: 'message.delivered', thread_id, recipients, data });
  }
}

function groupByThread<Row extends { thread_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const threads = new Map<string, Row[]>();
  for (const row of rows) {
    const group = threads.get(row.thread_id);
    if (group) group.push(row);
    else threads.set(row.thread_id, [row]);
  }
  return threads;
}

/**
 * The delivered and read sequence of each member of a thread, in the order of joining.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function listThreadReceipts(work: Work, thread_id: string) {
  const { id } = await requireThread(work, thread_id);
  return work.db.threadMembers.listMarks(id);
}
