import { z } from 'zod';
import { presentSubject, type WaitState, waitStates } from '../domain/threads.ts';
import { agentRef, timestamp } from './agent.ts';
import { messageId, threadIdentifier } from './message.ts';
import { taskIdentifier } from './task.ts';

/** Wait record: one agent has not answered the question of another. */
export const waitSchema = z
  .object({
    thread_id: threadIdentifier,
    subject: z.string().nullable().describe('Topic of the thread; null if it has none.'),
    task_id: taskIdentifier.nullable().describe('The task; null for a message that expects a reply.'),
    message_id: messageId.describe('The message that asks.'),
    from: agentRef.describe('The agent that waits.'),
    for: agentRef.describe('The agent that has not answered.'),
    since: timestamp.describe('Since when.'),
    overdue: z.boolean().describe('Whether the time that the asking agent set has passed.'),
    received: z
      .boolean()
      .describe('Whether the message that asks was delivered to the agent that has not answered.'),
    state: z
      .enum(waitStates)
      .describe(
        'Of the agent that has not answered. waits_for_person: the message asks a person, or one of your agents has a pending approval. waits_for_agent: it waits for a third agent. silent: it is online. offline: it is not.',
      ),
  })
  .meta({ id: 'Wait' })
  .describe('An agent waits for the answer of another.');

export type WaitRecord = z.infer<typeof waitSchema>;

export interface WaitColumns {
  thread_id: string;
  subject: string | null;
  task_id: string | null;
  message_id: string;
  since: number;
  overdue: boolean;
  sender_id: string;
  sender_handle: string;
  member_id: string;
  member_handle: string;
  received: boolean;
  wait_state: WaitState;
}

/** Returns a wait from a row that may have more columns. */
export function presentWait(row: WaitColumns): WaitRecord {
  const { thread_id, task_id, message_id, subject, since, overdue, received, wait_state: state } = row;
  return {
    thread_id,
    subject: presentSubject(subject),
    task_id,
    message_id,
    from: { id: row.sender_id, canonical_handle: row.sender_handle },
    for: { id: row.member_id, canonical_handle: row.member_handle },
    since,
    overdue,
    received,
    state,
  };
}
