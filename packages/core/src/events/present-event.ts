import { type MessageColumns, presentMessage } from '../records/message.ts';
import { eventOf, type EventType } from './list.ts';

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
  const stored = row.message ? presentMessage(row.message) : row.data;
  if (!stored) throw new Error(`event ${row.id} has neither data nor a message`);
  const event = eventOf(row.type);
  return event.data.parse(event.present?.(stored) ?? stored);
}

/** Returns an event as all transports send it; `cursor` is the receiver's position after it. */
export function presentEvent(row: EventColumns, cursor: string): object {
  const { type, id, created_at, traceparent } = row;
  const trace = typeof traceparent === 'string' && { traceparent };
  return { type, id, cursor, created_at, data: presentEventData(row), ...trace };
}
