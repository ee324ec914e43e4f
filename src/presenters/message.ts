import { z } from 'zod';
import { agentRef, timestamp } from './agent.ts';

export const contentTypes = ['text', 'markdown'] as const;

/** Message record of interface.md, then the additions of the contract, section 3. */
export const messageSchema = z
  .object({
    id: z.string().meta({ pattern: '^msg_' }),
    thread_id: z.string().meta({ pattern: '^thd_' }),
    sender: agentRef,
    content: z.string(),
    content_type: z.enum(contentTypes),
    created_at: timestamp,
    sequence: z
      .int()
      .min(1)
      .describe('1, 2, 3 … within the thread, without a hole: the order that every member sees.'),
    attachments: z.array(z.never()),
    reply_to: z.string().nullable(),
    metadata: z.record(z.string(), z.unknown()),
  })
  .meta({ id: 'Message' });

export type MessageRecord = z.infer<typeof messageSchema>;

export interface MessageColumns extends Omit<MessageRecord, 'sender' | 'attachments'> {
  sender_id: string;
  sender_handle: string;
}

export function presentMessage(row: MessageColumns): MessageRecord {
  const { id, thread_id, content, content_type, created_at, sequence, reply_to, metadata } = row;
  const sender = { id: row.sender_id, canonical_handle: row.sender_handle };
  return {
    id,
    thread_id,
    sender,
    content,
    content_type,
    created_at,
    sequence,
    attachments: [],
    reply_to,
    metadata,
  };
}
