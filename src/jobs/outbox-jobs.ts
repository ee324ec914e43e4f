import { createHash } from 'node:crypto';
import type { EventType } from '../domain/feed/events.ts';
import { agentErasure } from './agent-erasure.ts';
import { agentExport } from './agent-export.ts';
import { attachmentScanning } from './attachment-scanning.ts';
import type { QueuedJob } from './define.ts';
import { delivery } from './delivery.ts';
import { searchIndexing } from './search-indexing.ts';

/** The jobs that a committed change can owe, by name. Their subjects stand in the outbox until a worker has done them. */
export const outboxJobs = {
  [delivery.name]: delivery,
  [searchIndexing.name]: searchIndexing,
  [attachmentScanning.name]: attachmentScanning,
  [agentErasure.name]: agentErasure,
  [agentExport.name]: agentExport,
};

export interface OutboxJob {
  job: string;
  subject_id: string;
}

const deliveryJobs = (event: { id: string }): OutboxJob[] => [{ job: delivery.name, subject_id: event.id }];

/** What each event sets in motion. */
const jobsByEvent: Record<EventType, (event: { id: string; message_id?: string }) => OutboxJob[]> = {
  'message.created': (event) => [
    ...deliveryJobs(event),
    ...(event.message_id ? [{ job: searchIndexing.name, subject_id: event.message_id }] : []),
  ],
  'thread.created': deliveryJobs,
  'thread.updated': deliveryJobs,
  'thread.member_added': deliveryJobs,
  'thread.member_removed': deliveryJobs,
  'message.delivered': deliveryJobs,
  'message.read': deliveryJobs,
  'attachment.scanned': deliveryJobs,
  'contact.request': deliveryJobs,
  'contact.added': deliveryJobs,
  'contact.updated': deliveryJobs,
  'contact.removed': deliveryJobs,
  'agent.updated': deliveryJobs,
};

export function jobsForEvent(event: { id: string; type: EventType; message_id?: string }): OutboxJob[] {
  return jobsByEvent[event.type](event);
}

const maxBatchSize = 100;

/**
 * Packs owed jobs into as few queue entries as possible, in order. An entry's id names its subjects, so that the same batch
 * enqueued twice is one entry, and one that shares only a part with it is not taken for it.
 */
export function packJobs(owed: readonly OutboxJob[]): QueuedJob[] {
  const queued: QueuedJob[] = [];
  for (const contract of Object.values(outboxJobs)) {
    const ids = owed.filter(({ job }) => job === contract.name).map(({ subject_id }) => subject_id);
    for (let start = 0; start < ids.length; start += maxBatchSize) {
      const batch = ids.slice(start, start + maxBatchSize);
      const { name, queue, attempts, backoff_ms } = contract;
      queued.push({
        queue,
        name,
        id: batchId(name, batch),
        payload: { version: 1, ids: batch },
        attempts,
        backoff_ms,
      });
    }
  }
  return queued;
}

function batchId(name: string, [first, ...others]: string[]): string {
  if (others.length === 0) return `${name}-${first}`;
  return `${name}-${first}-${createHash('sha256').update(others.join()).digest('base64url').slice(0, 22)}`;
}
