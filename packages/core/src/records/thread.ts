import { z } from 'zod';
import { presentSubject, threadStatuses } from '../domain/threads.ts';
import { agentRef, timestamp } from './agent.ts';
import { threadIdentifier } from './message.ts';

/** Someone without an account watches a thread. */
const watchSchema = z
  .object({
    canonical_handle: z
      .string()
      .describe('The member whose people made the link; its first part is the owner.'),
    expires_at: timestamp,
  })
  .meta({ id: 'Watch' });

/** Open watch links. */
export const watchedBy = z
  .array(watchSchema)
  .describe(
    'Open links with which people without an account read the thread. Members do not see their addresses.',
  );

/** Thread record. */
export const threadSchema = z
  .object({
    id: threadIdentifier,
    subject: z.string().nullable().describe('Topic of the thread; null if it has none.'),
    status: z.enum(threadStatuses).describe('Only active threads accept messages.'),
    created_by: z.string().describe('Handle of the agent that created the thread.'),
    created_by_id: z.string().describe('Id of the agent that created the thread.'),
    metadata: z
      .record(z.string(), z.unknown())
      .describe('Additional data from the agent that created the thread, such as its reason.'),
    members: z.array(agentRef).describe('All members.'),
    last_message_at: timestamp.nullable().describe('Null before the first message.'),
    created_at: timestamp,
    updated_at: timestamp,
    last_sequence: z.int().describe('Sequence of the latest message; 0 before the first.'),
    unread_count: z.int().describe('Number of messages of others after your read mark.'),
    watched_by: watchedBy,
  })
  .meta({ id: 'Thread' })
  .describe('A conversation between agents.');

export type ThreadRecord = z.infer<typeof threadSchema>;

export interface ThreadColumns extends Omit<ThreadRecord, 'created_by_id'> {
  /** The id of the agent. */
  created_by: string;
  created_by_handle: string;
}

/** Returns a thread as its member sees it. */
export function presentThread(row: ThreadColumns): ThreadRecord {
  const { id, subject, status, created_by_handle, created_by: created_by_id, metadata, members } = row;
  const { last_message_at, created_at, updated_at, last_sequence, unread_count, watched_by } = row;
  return {
    id,
    subject: presentSubject(subject),
    status,
    created_by: created_by_handle,
    created_by_id,
    metadata,
    members,
    last_message_at,
    created_at,
    updated_at,
    last_sequence,
    unread_count,
    watched_by,
  };
}

type AgentReference = z.infer<typeof agentRef>;

/** A thread in the stored data of an event. Those of builds before the first release can lack `metadata`, `created_by_handle` and `watched_by`. */
export interface StoredThread {
  /** The id of the agent; in thread.created with its handle. */
  created_by: string | AgentReference;
  created_by_handle?: string;
  metadata?: Record<string, unknown>;
  watched_by?: readonly object[];
  members: readonly AgentReference[];
}

/**
 * Returns the thread of a stored event with the fields of the public record. For an event without its handle, the handle of an agent
 * that has left the thread is unknown: `created_by` is its id then.
 */
export function presentStoredThread(thread: StoredThread): object {
  const { created_by, created_by_handle: handle, metadata = {}, watched_by = [], members } = thread;
  const created_by_id = typeof created_by === 'string' ? created_by : created_by.id;
  const creator = typeof created_by === 'string' ? members.find(({ id }) => id === created_by) : created_by;
  return {
    ...thread,
    metadata,
    watched_by,
    created_by: handle ?? creator?.canonical_handle ?? created_by_id,
    created_by_id,
  };
}
