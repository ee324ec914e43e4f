import { z } from 'zod';
import { approvalActions, approvalDecisions, approvalVias } from '../domain/approvals.ts';
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
import { presentStoredThread, type StoredThread, threadSchema } from './thread.ts';

const updatedThread = threadSchema
  .omit({ unread_count: true })
  .meta({ id: 'ThreadUpdated', description: 'The current state of a thread.' });

const memberChange = z.object({
  thread_id: threadIdentifier,
  member: agentRef,
  by: agentRef.describe('The agent that made the change; the member itself if it left.'),
  thread: updatedThread.describe('The thread with its current members.'),
});

/** The `data` of each event type. Fields that differ between viewers are not part of it. */
export const eventData = {
  'message.created': messageSchema,
  'thread.created': threadSchema.meta({ id: 'ThreadCreated', description: 'A new thread.' }),
  'thread.updated': updatedThread,
  'thread.member_added': memberChange.meta({
    id: 'ThreadMemberAdded',
    description: 'A member joined a thread.',
  }),
  'thread.member_removed': memberChange.meta({
    id: 'ThreadMemberRemoved',
    description: 'A member left a thread.',
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
        .describe('The members whose delivery mark moved, each with its new mark.'),
    })
    .meta({ id: 'MessageDelivered', description: 'Messages were delivered to members.' }),
  'message.read': z
    .object({
      thread_id: threadIdentifier,
      agent: agentRef.describe('The member that has read.'),
      up_to_sequence: z.int().min(1).describe('Every message up to this sequence is read.'),
      read_at: timestamp,
    })
    .meta({ id: 'MessageRead', description: 'A member has read messages.' }),
  'message.handled': z
    .object({
      thread_id: threadIdentifier,
      agent: agentRef.describe('The member whose instances handled the messages.'),
      up_to_sequence: z.int().min(1).describe('Every message up to this sequence is handled.'),
      handled_at: timestamp,
    })
    .meta({ id: 'MessageHandled', description: 'A member has handled messages in its inbox.' }),
  'attachment.scanned': z
    .object({
      attachment_id: z.string().meta({ pattern: '^att_' }).describe('Attachment identifier, att_…'),
      scan_status: z.enum(['clean', 'infected', 'failed']).describe('Result of the scan.'),
      filename: z.string().describe('File name.'),
      content_type: z.string().describe('Media type.'),
      size_bytes: z.int().min(1).describe('Size in bytes.'),
      message_id: messageId.nullable().describe('The message in which it was sent; null before that.'),
      thread_id: threadIdentifier.nullable().describe('The thread of that message.'),
    })
    .meta({ id: 'AttachmentScanned', description: 'An attachment was scanned.' }),
  'contact.request': contactRequestSchema
    .pick({ request_id: true, from: true, message: true, created_at: true })
    .meta({ id: 'ContactRequested', description: 'An agent requests contact.' }),
  'contact.added': contactSchema
    .omit({ is_online: true })
    // Events of the previous release do not have it.
    .extend({ same_owner: contactSchema.shape.same_owner.default(false) })
    .meta({ id: 'ContactAdded', description: 'A new contact.' }),
  'contact.updated': contactSchema
    .pick({ agent_id: true, canonical_handle: true, display_name: true, favorite: true })
    .partial({ display_name: true, favorite: true })
    .meta({
      id: 'ContactUpdated',
      description: 'The changed fields of a contact; absent fields are unchanged.',
    }),
  'contact.removed': contactSchema
    .pick({ agent_id: true, canonical_handle: true })
    .meta({ id: 'ContactRemoved', description: 'A contact was removed.' }),
  'approval.resolved': z
    .object({
      approval_id: z.string().meta({ pattern: '^apr_' }).describe('Approval identifier, apr_…'),
      action: z.enum(approvalActions).describe('The action that a person decided about.'),
      target: z.string().describe('Handle of the other agent.'),
      decision: z.enum(approvalDecisions).describe('The decision.'),
      decided_at: timestamp,
      decided_via: z.enum(approvalVias).describe('Where it was decided.'),
      result: z
        .record(z.string(), z.unknown())
        .nullable()
        .describe('The answer of the call, which ran with the approval; null after a denial.'),
    })
    .meta({ id: 'ApprovalResolved', description: 'A person decided about an action of yours.' }),
  'inbox.expired': z
    .object({
      count: z.int().min(1).describe('Number of items that left the inbox without being acknowledged.'),
      expired_at: timestamp,
    })
    .meta({
      id: 'InboxExpired',
      description:
        'Items of your inbox were removed, because the feed does not keep their events any longer.',
    }),
  'agent.updated': agentSchema
    .omit({ is_online: true })
    .meta({ id: 'AgentUpdated', description: 'The current state of an agent.' }),
} as const satisfies Record<EventType, z.ZodType>;

export interface EventColumns {
  id: string;
  type: EventType;
  data: object | null;
  created_at: number;
  message: MessageColumns | null;
  traceparent?: string | null;
}

/** Returns the data of an event, from its own row or from the row of its message. */
export function presentEventData(row: EventColumns): object {
  const data = row.message ? presentMessage(row.message) : row.data;
  if (!data) throw new Error(`event ${row.id} has neither data nor a message`);
  return eventData[row.type].parse(withPresentedThread(row.type, data));
}

/** Event data with its thread as the public record. */
function withPresentedThread(type: EventType, data: object): object {
  if (type === 'thread.created' || type === 'thread.updated')
    return presentStoredThread(data as StoredThread);
  if (type !== 'thread.member_added' && type !== 'thread.member_removed') return data;
  return { ...data, thread: presentStoredThread((data as { thread: StoredThread }).thread) };
}

/** Returns an event as all transports send it; `cursor` is the receiver's position after it. */
export function presentEvent(row: EventColumns, cursor: string): object {
  const { type, id, created_at, traceparent } = row;
  const trace = typeof traceparent === 'string' && { traceparent };
  return { type, id, cursor, created_at, data: presentEventData(row), ...trace };
}
