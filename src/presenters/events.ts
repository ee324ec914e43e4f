import { z } from 'zod';
import type { EventType } from '../domain/feed/events.ts';
import { agentRef, agentSchema, timestamp } from './agent.ts';
import { contactRequestSchema, contactSchema } from './contact.ts';
import {
  type MessageColumns,
  messageId,
  messageSchema,
  presentMessage,
  threadIdentifier,
} from './message.ts';
import { threadSchema } from './thread.ts';

const updatedThread = threadSchema
  .omit({ unread_count: true })
  .meta({ id: 'ThreadUpdated', description: 'A thread as it is now.' });

const memberChange = z.object({
  thread_id: threadIdentifier,
  member: agentRef,
  by: agentRef.describe('Who did it; the member itself when it left.'),
  thread: updatedThread.describe('The thread with its members as they are now.'),
});

/** The `data` of each event type (contract, section 4). What differs from viewer to viewer is not part of it. */
export const eventData = {
  'message.created': messageSchema,
  'thread.created': threadSchema
    .extend({ created_by: agentRef })
    .meta({ id: 'ThreadCreated', description: 'A new thread.' }),
  'thread.updated': updatedThread,
  'thread.member_added': memberChange.meta({ id: 'ThreadMemberAdded', description: 'Who joined a thread.' }),
  'thread.member_removed': memberChange.meta({
    id: 'ThreadMemberRemoved',
    description: 'Who left a thread.',
  }),
  'message.delivered': z
    .object({
      thread_id: threadIdentifier,
      delivered_at: timestamp,
      members: z
        .array(
          agentRef.extend({
            up_to_sequence: z
              .int()
              .min(1)
              .describe('Every message for this member up to this sequence counts as delivered.'),
          }),
        )
        .min(1)
        .describe('Whose mark moved, each with where it stands now.'),
    })
    .meta({ id: 'MessageDelivered', description: 'How far messages have come to their recipients.' }),
  'message.read': z
    .object({
      thread_id: threadIdentifier,
      agent: agentRef.describe('Who has read.'),
      up_to_sequence: z.int().min(1).describe('Every message up to this sequence is read.'),
      read_at: timestamp,
    })
    .meta({ id: 'MessageRead', description: 'How far a member has read.' }),
  'attachment.scanned': z
    .object({
      attachment_id: z.string().meta({ pattern: '^att_' }).describe('Attachment identifier, att_…'),
      scan_status: z.enum(['clean', 'infected', 'failed']).describe('What the scan found.'),
      filename: z.string().describe('Its name.'),
      content_type: z.string().describe('Its media type, as its bytes say.'),
      size_bytes: z.int().min(1).describe('How large it is, in bytes.'),
      message_id: messageId.nullable().describe('The message in which it was sent; null before that.'),
      thread_id: threadIdentifier.nullable().describe('The thread of that message.'),
    })
    .meta({ id: 'AttachmentScanned', description: 'An attachment has been looked at.' }),
  'contact.request': contactRequestSchema
    .pick({ request_id: true, from: true, message: true, created_at: true })
    .meta({ id: 'ContactRequested', description: 'Somebody asks for contact.' }),
  'contact.added': contactSchema
    .omit({ is_online: true })
    .meta({ id: 'ContactAdded', description: 'A new contact.' }),
  'contact.updated': contactSchema
    .pick({ agent_id: true, canonical_handle: true, display_name: true, favorite: true })
    .partial({ display_name: true, favorite: true })
    .meta({ id: 'ContactUpdated', description: 'What is new about a contact; what is absent is as it was.' }),
  'contact.removed': contactSchema
    .pick({ agent_id: true, canonical_handle: true })
    .meta({ id: 'ContactRemoved', description: 'A contact that is none any more.' }),
  'agent.updated': agentSchema
    .omit({ is_online: true })
    .meta({ id: 'AgentUpdated', description: 'An agent as it is now.' }),
} as const satisfies Record<EventType, z.ZodType>;

export interface EventColumns {
  id: string;
  type: EventType;
  data: object | null;
  created_at: number;
  message: MessageColumns | null;
  traceparent?: string | null;
}

/** The data of an event, from its own row or from the row of the message that it is about. */
export function presentEventData(row: EventColumns): object {
  const data = row.message ? presentMessage(row.message) : row.data;
  if (!data) throw new Error(`event ${row.id} has neither data nor a message`);
  return eventData[row.type].parse(data);
}

/** An event as every door shows it (contract, section 4); `cursor` is the receiver's position right behind it. */
export function presentEvent(row: EventColumns, cursor: string): object {
  const { type, id, created_at, traceparent } = row;
  const trace = typeof traceparent === 'string' && { traceparent };
  return { type, id, cursor, created_at, data: presentEventData(row), ...trace };
}
