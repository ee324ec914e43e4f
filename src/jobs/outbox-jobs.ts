import { createHash } from 'node:crypto';
import { z } from 'zod';
import { erasureJob } from '../domain/agents/erasure-and-export.ts';
import { exportJob } from '../domain/agents/erasure-and-export.ts';
import { scanJob } from '../domain/attachments/attachments.ts';
import { noticeJob } from '../domain/notifications.ts';
import type { EventType } from '../domain/feed/events.ts';
import type { JobContract, QueuedJob } from './define.ts';

const payload = z.object({ version: z.literal(1), ids: z.array(z.string()).min(1) });

/** Publishes a wake-up to every recipient of new events. The subjects are events. */
export const delivery: JobContract<{ version: 1; ids: string[] }> = {
  name: 'deliver-events',
  queue: 'delivery',
  payload,
  attempts: 5,
  backoff_ms: 200,
};

/** Writes the search rows of messages. The subjects are messages. */
export const searchIndexing: JobContract<{ version: 1; ids: string[] }> = {
  name: 'index-messages',
  queue: 'search-indexing',
  payload,
  attempts: 5,
  backoff_ms: 1_000,
};

/** As `delivery`, for the events of one commit: a subject has their ids, joined by `joinIds`. */
export const deliveryOfCommit: JobContract<{ version: 1; ids: string[] }> = {
  ...delivery,
  name: 'deliver-commits',
};

/** As `searchIndexing`, for the messages of one commit: a subject has their ids, joined by `joinIds`. */
export const indexingOfCommit: JobContract<{ version: 1; ids: string[] }> = {
  ...searchIndexing,
  name: 'index-commits',
};

/** Scans uploads for malware; nothing can be downloaded before. The subjects are attachments. */
export const attachmentScanning: JobContract<{ version: 1; ids: string[] }> = {
  name: scanJob,
  queue: 'attachment-scanning',
  payload,
  attempts: 5,
  backoff_ms: 1_000,
};

/** Continues the erasure of agents. The subjects are erasures. */
export const agentErasure: JobContract<{ version: 1; ids: string[] }> = {
  name: erasureJob,
  queue: 'agent-erasure',
  payload,
  attempts: 5,
  backoff_ms: 1_000,
};

/** Continues the export of agents' data. The subjects are exports. */
export const agentExport: JobContract<{ version: 1; ids: string[] }> = {
  name: exportJob,
  queue: 'agent-export',
  payload,
  attempts: 5,
  backoff_ms: 1_000,
};

/** Enqueues checks of what waits for people, and messages to them. The subjects are those of `toNoticeJob`. */
export const noticing: JobContract<{ version: 1; ids: string[] }> = {
  name: noticeJob,
  queue: 'notifications',
  payload,
  attempts: 5,
  backoff_ms: 1_000,
};

/** The jobs that a commit can put into the outbox, by name. An outbox row stays until a worker has finished its job. */
export const outboxJobs = {
  [delivery.name]: delivery,
  [searchIndexing.name]: searchIndexing,
  [deliveryOfCommit.name]: deliveryOfCommit,
  [indexingOfCommit.name]: indexingOfCommit,
  [attachmentScanning.name]: attachmentScanning,
  [agentErasure.name]: agentErasure,
  [agentExport.name]: agentExport,
  [noticing.name]: noticing,
};

export interface OutboxJob {
  job: string;
  /** The id of the subject, or the joined ids of several. */
  subject_id: string;
}

const deliveryJobs = (event: { id: string }): OutboxJob[] => [{ job: delivery.name, subject_id: event.id }];

/** The jobs that each event type enqueues. */
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
  'message.handled': deliveryJobs,
  'attachment.scanned': deliveryJobs,
  'contact.request': deliveryJobs,
  'contact.added': deliveryJobs,
  'contact.updated': deliveryJobs,
  'contact.removed': deliveryJobs,
  'approval.resolved': deliveryJobs,
  'inbox.expired': deliveryJobs,
  'agent.updated': deliveryJobs,
};

/** Returns the jobs to put into the outbox for an event. */
export function jobsForEvent(event: { id: string; type: EventType; message_id?: string }): OutboxJob[] {
  return jobsByEvent[event.type](event);
}

/** The jobs that handle the subjects of one commit together, by the job of one subject. */
const commitJobs = new Map([
  [delivery.name, deliveryOfCommit.name],
  [searchIndexing.name, indexingOfCommit.name],
]);

/** The key of an outbox row may have 2.7 KB; an id has 30 bytes. */
const maxJoinedIds = 50;

const joinIds = (ids: readonly string[]): string => ids.join(',');

/** The ids of subjects. */
export const splitIds = (subjects: readonly string[]): string[] =>
  subjects.flatMap((subject) => subject.split(','));

/**
 * Joins the jobs of one commit that can share an outbox row: with ten messages in a commit, that saves a tenth of the CPU time of each.
 * Jobs of different traces stay separate.
 */
export function joinJobs<Job extends OutboxJob & { trace?: string | undefined }>(
  jobs: readonly Job[],
): Job[] {
  const groups = new Map<string, Job[]>();
  for (const job of jobs) {
    const key = commitJobs.has(job.job) ? `${job.job} ${job.trace}` : `${job.job} ${job.subject_id}`;
    const group = groups.get(key);
    if (group) group.push(job);
    else groups.set(key, [job]);
  }
  return [...groups.values()].flatMap((group) => chunk(group, maxJoinedIds).map(joinGroup));
}

/** The job of one commit for these; the job itself when it is the only one. */
function joinGroup<Job extends OutboxJob>(group: readonly [Job, ...Job[]]): Job {
  const [first, ...others] = group;
  if (others.length === 0) return first;
  return {
    ...first,
    job: commitJobs.get(first.job) ?? first.job,
    subject_id: joinIds(group.map(({ subject_id }) => subject_id)),
  };
}

/** Splits a list into parts of at most this size. */
function chunk<Item>(items: readonly Item[], size: number): [Item, ...Item[]][] {
  const parts: [Item, ...Item[]][] = [];
  for (const item of items) {
    const last = parts.at(-1);
    if (last && last.length < size) last.push(item);
    else parts.push([item]);
  }
  return parts;
}

const maxBatchSize = 100;

/**
 * Packs outbox jobs into as few queue entries as possible, in order. The id of an entry is derived from its subjects: the queue
 * drops the same batch enqueued twice, but not a batch that only overlaps with another one.
 */
export function packJobs(jobs: readonly OutboxJob[]): QueuedJob[] {
  const queued: QueuedJob[] = [];
  for (const contract of Object.values(outboxJobs)) {
    const subjects = jobs.filter(({ job }) => job === contract.name).map(({ subject_id }) => subject_id);
    for (const batch of splitBySize(subjects)) {
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

/** Batches of at most `maxBatchSize` ids; a subject with more joined ids is a batch of its own. */
function splitBySize(subjects: readonly string[]): string[][] {
  const batches: string[][] = [];
  let size = 0;
  for (const subject of subjects) {
    const ids = splitIds([subject]).length;
    const last = batches.at(-1);
    if (last && size + ids <= maxBatchSize) {
      last.push(subject);
      size += ids;
    } else {
      batches.push([subject]);
      size = ids;
    }
  }
  return batches;
}

function batchId(name: string, subjects: readonly string[]): string {
  const [first, ...others] = splitIds(subjects);
  if (others.length === 0) return `${name}-${first}`;
  return `${name}-${first}-${createHash('sha256').update(others.join()).digest('base64url').slice(0, 22)}`;
}
