import type { Agent } from '../load/population.ts';

/** An event from any transport. */
export interface ReceivedEvent {
  event_id: string;
  type: string;
  cursor: string;
  subject: string | null;
}

export interface Connection {
  base: string;
  agent: Agent;
  /** The cursor of the last event that was received. */
  cursor: string;
  onEvent(event: ReceivedEvent): void;
  /** Called with a description of what the service did wrong. */
  onComplaint(what: string): void;
  signal: AbortSignal;
}

/** Runs one connection over one transport until it ends for any reason. Never rejects. */
export type Transport = (connection: Connection) => Promise<void>;

interface EventSubjects {
  id?: string | undefined;
  request_id?: string | undefined;
}

/** The id of the object of an event, for the events that the checker counts; otherwise null. */
export function subjectOf(type: string, data: EventSubjects): string | null {
  if (type === 'message.created' || type === 'thread.created') return data.id ?? null;
  return type === 'contact.request' ? (data.request_id ?? null) : null;
}
