import { createHash } from 'node:crypto';
import type { EventType } from '../domain/events.ts';
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

export interface OwedJob {
  job: string;
  subject_id: string;
}

const everyEvent = (event: { id: string }): OwedJob[] => [{ job: delivery.name, subject_id: event.id }];

/** What each event sets in motion. */
const jobsByEvent: Record<EventType, (event: { id: string; message_id?: string }) => OwedJob[]> = {
  'message.created': (event) => [
    ...everyEvent(event),
    ...(event.message_id ? [{ job: searchIndexing.name, subject_id: event.message_id }] : []),
  ],
  'thread.created': everyEvent,
  'thread.updated': everyEvent,
  'thread.member_added': everyEvent,
  'thread.member_removed': everyEvent,
  'message.delivered': everyEvent,
  'message.read': everyEvent,
  'attachment.scanned': everyEvent,
  'contact.request': everyEvent,
  'contact.added': everyEvent,
  'contact.updated': everyEvent,
  'contact.removed': everyEvent,
  'agent.updated': everyEvent,
};

export function jobsOf(event: { id: string; type: EventType; message_id?: string }): OwedJob[] {
  return jobsByEvent[event.type](event);
}

const largestBatch = 100;

/**
 * Packs owed jobs into as few queue entries as possible, in order. An entry's id names its subjects, so that the same batch
 * enqueued twice is one entry, and one that shares only a part with it is not taken for it.
 */
export function queuedJobs(owed: readonly OwedJob[]): QueuedJob[] {
  const queued: QueuedJob[] = [];
  for (const contract of Object.values(outboxJobs)) {
    const ids = owed.filter(({ job }) => job === contract.name).map(({ subject_id }) => subject_id);
    for (let start = 0; start < ids.length; start += largestBatch) {
      const batch = ids.slice(start, start + largestBatch);
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
