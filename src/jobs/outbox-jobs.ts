import { createHash } from 'node:crypto';
import { z } from 'zod';
import { erasureJob, exportJob } from '../../packages/core/src/domain/agents/erasure-and-export.ts';
import { scanJob } from '../../packages/core/src/domain/attachments/attachments.ts';
import { withdrawalJob } from '../../packages/core/src/domain/withdrawals.ts';
import { noticeJob } from '../../packages/core/src/domain/notifications.ts';
import { eventOf, type EventType } from '../../packages/core/src/events/list.ts';
import type { JobContract, QueuedJob, QueueName } from './define.ts';
import { listIds, type OutboxRow } from './joined-rows.ts';

type OutboxJob = JobContract<{ version: 1; ids: string[] }>;

const outboxJob = (name: string, queue: QueueName, backoff_ms = 1_000): OutboxJob => ({
  name,
  queue,
  payload: z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) }),
  attempts: 5,
  backoff_ms,
});

/** Publishes a wake-up to every recipient of new events. The subjects are events. */
export const delivery = outboxJob('deliver-events', 'delivery', 200);

/** As `delivery`, for events of new messages. Enqueues `searchIndexing`, which completes the row: a message has one row for both. */
export const messageDelivery = { ...delivery, name: 'deliver-messages' };

/** Writes the search rows of messages. The subjects are the events of the messages. */
export const searchIndexing = outboxJob('index-messages', 'search-indexing');

/** Scans uploads; nothing can be downloaded before. The subjects are attachments. */
export const attachmentScanning = outboxJob(scanJob, 'attachment-scanning');

/** Completes withdrawals. The subjects are messages. */
export const messageWithdrawal = outboxJob(withdrawalJob, 'search-indexing');

/** Continues the erasure of agents. The subjects are erasures. */
export const agentErasure = outboxJob(erasureJob, 'agent-erasure');

/** Continues the export of agents' data. The subjects are exports. */
export const agentExport = outboxJob(exportJob, 'agent-export');

/** Enqueues checks of the pending items of people, and messages to them. The subjects are those of `toNoticeJob`. */
export const noticing = outboxJob(noticeJob, 'notifications');

/** The jobs that a commit can put into the outbox, by name. An outbox row stays until a worker has finished its job. */
export const outboxJobs = {
  [delivery.name]: delivery,
  [messageDelivery.name]: messageDelivery,
  [messageWithdrawal.name]: messageWithdrawal,
  [attachmentScanning.name]: attachmentScanning,
  [agentErasure.name]: agentErasure,
  [agentExport.name]: agentExport,
  [noticing.name]: noticing,
};

/** Returns the job to put into the outbox for an event. */
export function jobForEvent({ id, type }: { id: string; type: EventType }): OutboxRow {
  return { job: eventOf(type).isIndexed ? messageDelivery.name : delivery.name, subject_id: id };
}

const maxBatchSize = 100;

/**
 * Packs outbox jobs into as few queue entries as possible, in order. The id of an entry is derived from its subjects: the queue
 * drops the same batch enqueued twice, but not a batch that only overlaps with another one.
 */
export function packJobs(jobs: readonly OutboxRow[]): QueuedJob[] {
  const queued: QueuedJob[] = [];
  for (const contract of Object.values(outboxJobs)) {
    for (const ids of packIds(jobs.filter(({ job }) => job === contract.name)))
      queued.push(createEntry(contract, ids));
  }
  return queued;
}

/** The entry that indexes the messages of these events after their delivery. */
export const createIndexingJob = (ids: readonly string[]): QueuedJob => createEntry(searchIndexing, ids);

function createEntry(
  { name, queue, attempts, backoff_ms }: JobContract<unknown>,
  ids: readonly string[],
): QueuedJob {
  return { queue, name, id: batchId(name, ids), payload: { version: 1, ids }, attempts, backoff_ms };
}

/** The ids of rows, in batches of at most `maxBatchSize`. The ids of a row stay together. */
function packIds(rows: readonly OutboxRow[]): string[][] {
  const batches: string[][] = [];
  for (const row of rows) {
    const ids = listIds(row);
    const last = batches.at(-1);
    if (last && last.length + ids.length <= maxBatchSize) last.push(...ids);
    else batches.push(ids);
  }
  return batches;
}

function batchId(name: string, [first, ...others]: readonly string[]): string {
  if (others.length === 0) return `${name}-${first}`;
  return `${name}-${first}-${createHash('sha256').update(others.join()).digest('base64url').slice(0, 22)}`;
}
