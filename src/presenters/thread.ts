import { z } from 'zod';
import { threadStatuses } from '../domain/threads.ts';
import { agentRef, timestamp } from './agent.ts';
import { threadIdentifier } from './message.ts';

/** Thread record. */
export const threadSchema = z
  .object({
    id: threadIdentifier,
    subject: z.string().nullable().describe('Topic of the thread; null if it has none.'),
    status: z.enum(threadStatuses).describe('Only active threads accept messages.'),
    created_by: z.string().describe('Id of the agent that created the thread.'),
    members: z.array(agentRef).describe('All members.'),
    last_message_at: timestamp.nullable().describe('Null before the first message.'),
    created_at: timestamp,
    updated_at: timestamp,
    last_sequence: z.int().describe('Sequence of the latest message; 0 before the first.'),
    unread_count: z.int().describe('Number of messages of others after your read mark.'),
  })
  .meta({ id: 'Thread' })
  .describe('A conversation between agents.');

export type ThreadRecord = z.infer<typeof threadSchema>;

/** Returns a thread as its member sees it. */
export function presentThread(row: ThreadRecord): ThreadRecord {
  const { id, subject, status, created_by, members, last_message_at } = row;
  const { created_at, updated_at, last_sequence, unread_count } = row;
  return {
    id,
    subject,
    status,
    created_by,
    members,
    last_message_at,
    created_at,
    updated_at,
    last_sequence,
    unread_count,
  };
}
