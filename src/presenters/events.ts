import { z } from 'zod';
import type { EventType } from '../domain/events.ts';
import { agentRef, agentSchema, timestamp } from './agent.ts';
import { contactRequestSchema, contactSchema } from './contact.ts';
import { type MessageColumns, messageSchema, presentMessage } from './message.ts';
import { threadSchema } from './thread.ts';

const updatedThread = threadSchema.omit({ unread_count: true }).meta({ id: 'ThreadUpdated' });

const memberChange = z.object({
  thread_id: z.string(),
  member: agentRef,
  by: agentRef.describe('Who did it; the member itself when it left.'),
  thread: updatedThread.describe('The thread with its members as they are now.'),
});

/** The `data` of each event type (contract, section 4). What differs from viewer to viewer is not part of it. */
export const eventData = {
  'message.created': messageSchema,
  'thread.created': threadSchema.extend({ created_by: agentRef }).meta({ id: 'ThreadCreated' }),
  'thread.updated': updatedThread,
  'thread.member_added': memberChange.meta({ id: 'ThreadMemberAdded' }),
  'thread.member_removed': memberChange.meta({ id: 'ThreadMemberRemoved' }),
  'message.read': z
    .object({
      thread_id: z.string(),
      agent: agentRef.describe('Who has read.'),
      up_to_sequence: z.int().min(1).describe('Every message up to this sequence is read.'),
      read_at: timestamp,
    })
    .meta({ id: 'MessageRead' }),
  'contact.request': contactRequestSchema
    .pick({ request_id: true, from: true, message: true, created_at: true })
    .meta({ id: 'ContactRequested' }),
  'contact.added': contactSchema.omit({ is_online: true }).meta({ id: 'ContactAdded' }),
  'contact.removed': contactSchema
    .pick({ agent_id: true, canonical_handle: true })
    .meta({ id: 'ContactRemoved' }),
  'agent.updated': agentSchema.omit({ is_online: true }).meta({ id: 'AgentUpdated' }),
} as const satisfies Record<EventType, z.ZodType>;

export interface EventColumns {
  id: string;
  type: EventType;
  data: object | null;
  created_at: number;
  message: MessageColumns | null;
}

/** The data of an event, from its own row or from the row of the message that it is about. */
export function presentEventData(row: EventColumns): object {
  const data = row.message ? presentMessage(row.message) : row.data;
  if (!data) throw new Error(`event ${row.id} has neither data nor a message`);
  return eventData[row.type].parse(data);
}
