import { z } from 'zod';
import { presentSubject, type WaitState, waitStates } from '../domain/threads.ts';
import { agentRef, timestamp } from './agent.ts';
import { threadIdentifier } from './message.ts';

/** Wait record: one agent has not answered the last message of another. */
export const waitSchema = z
  .object({
    thread_id: threadIdentifier,
    subject: z.string().nullable().describe('Topic of the thread; null if it has none.'),
    from: agentRef.describe('The agent that waits: the sender of the last message.'),
    for: agentRef.describe('The agent that has not answered.'),
    since: timestamp.describe('When the last message was sent.'),
    received: z
      .boolean()
      .describe('Whether the last message was delivered to the agent that has not answered.'),
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
  since: number;
  sender_id: string;
  sender_handle: string;
  member_id: string;
  member_handle: string;
  received: boolean;
  state: WaitState;
}

/** Returns a wait from a row that may have more columns. */
export function presentWait(row: WaitColumns): WaitRecord {
  const { thread_id, subject, since, received, state } = row;
  return {
    thread_id,
    subject: presentSubject(subject),
    from: { id: row.sender_id, canonical_handle: row.sender_handle },
    for: { id: row.member_id, canonical_handle: row.member_handle },
    since,
    received,
    state,
  };
}
