import type { z } from 'zod';
import type { EventType } from '../domain/events.ts';
import { agentRef } from './agent.ts';
import { type MessageColumns, messageSchema, presentMessage } from './message.ts';
import { threadSchema } from './thread.ts';

/** The `data` of each event type (contract, section 4). What differs from viewer to viewer is not part of it. */
export const eventData = {
  'message.created': messageSchema,
  'thread.created': threadSchema.extend({ created_by: agentRef }).meta({ id: 'ThreadCreated' }),
  'thread.updated': threadSchema.omit({ unread_count: true }).meta({ id: 'ThreadUpdated' }),
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
