import type { DeliveredMark, FeedRange } from '../../../packages/core/src/domain/feed/receipts.ts';
import { maxSequence } from '../../../packages/core/src/domain/threads.ts';
import type { UndeliveredMessage } from '../../repositories/remote/messages.ts';
import type { MemberMarks } from '../../repositories/threads/members.ts';
import type { ReadWork, SystemWork, Work } from '../../work/unit-of-work.ts';
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
export async function listThreadReceipts(work: Work, thread_id: string): Promise<Receipt[]> {
  const { id } = await requireThread(work, thread_id);
  return readReceipts(work, id, maxSequence);
}

/** The marks of a member. */
export interface Receipt extends MemberMarks {
  /** Of an agent of another system. */
  remote?: { sending_from_sequence: number | null; undelivered: UndeliveredMessage[] };
}

/** How many undelivered messages a receipt has: a page of messages is not longer. */
const maxUndelivered = 100;

/** The marks of the members of a thread, and which messages before a sequence an agent of another system did not get. */
export async function readReceipts(
  { db: { threadMembers, remoteMessages, remoteThreads } }: ReadWork,
  thread_id: string,
  below: number,
): Promise<Receipt[]> {
  const marks: Receipt[] = await threadMembers.listMarks(thread_id);
  const remote = marks.find(({ is_remote }) => is_remote);
  if (!remote) return marks;
  const [sending_from_sequence, undelivered] = await Promise.all([
    remoteThreads.findSending(thread_id),
    remoteMessages.listUndelivered(thread_id, below, maxUndelivered),
  ]);
  remote.remote = {
    sending_from_sequence: sending_from_sequence ?? null,
    undelivered: undelivered.toReversed(),
  };
  return marks;
}
