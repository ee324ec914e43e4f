import type { DeliveredMark, FeedRange } from '../../domain/feed/receipts.ts';
import type { SystemWork, Work } from '../../work/unit-of-work.ts';
import { requireThread } from '../access.ts';

/** What doors have found out since the last time. */
export interface DeliveredBatch {
  /** How far the messages of threads have come to members of them. */
  marks: readonly DeliveredMark[];
  /** Stretches of feeds that agents have acknowledged. */
  acknowledged?: readonly FeedRange[];
}

/**
 * Moves delivered marks forward: never back, never beyond a thread's latest message, and none of who is no member any more. What
 * a member has read counts as delivered before. The senders of what is newly delivered hear of it, in one event for each thread.
 * Any number of threads and members cost the same few statements. Nobody is waited for but whoever moves the same marks.
 */
export async function recordDeliveries(work: SystemWork, taken: DeliveredBatch): Promise<void> {
  const { acknowledged = [] } = taken;
  const marks = [...taken.marks];
  if (acknowledged.length > 0) marks.push(...(await work.feed.readMarks(acknowledged)));
  if (marks.length === 0) return;
  const moved = await work.threadMembers.markDelivered(marks);
  if (moved.length === 0) return;
  const senders = groupByThread(await work.threadMembers.holdSenders(moved));
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
    work.emit({ type: 'message.delivered', thread_id, recipients, data });
  }
}

function groupByThread<Row extends { thread_id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const threads = new Map<string, Row[]>();
  for (const row of rows) {
    const known = threads.get(row.thread_id);
    if (known) known.push(row);
    else threads.set(row.thread_id, [row]);
  }
  return threads;
}

/**
 * How far each member of a thread has got and read its messages, in the order of joining.
 * @throws {DomainError} THREAD_NOT_FOUND
 */
export async function listThreadReceipts(work: Work, thread_id: string) {
  const { id } = await requireThread(work, thread_id);
  return work.threadMembers.listMarks(id);
}
