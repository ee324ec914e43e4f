import type { Agent } from '../load/population.ts';

/** An event as it arrives, at whatever door. */
export interface ReceivedEvent {
  event_id: string;
  type: string;
  cursor: string;
  subject: string | null;
}

export interface Connection {
  base: string;
  agent: Agent;
  /** Where to go on: behind the last event that was taken. */
  cursor: string;
  onEvent(arrival: ReceivedEvent): void;
  /** Told of what the service must not say to a reader. */
  onComplaint(what: string): void;
  signal: AbortSignal;
}

/** One connection at one door, from its opening to its end, however it ends. Never rejects. */
export type Transport = (visit: Connection) => Promise<void>;

interface EventSubjects {
  id?: string | undefined;
  request_id?: string | undefined;
}

/** What an event is about, for those events that the checker counts. */
export function subjectOf(type: string, data: EventSubjects): string | null {
  if (type === 'message.created' || type === 'thread.created') return data.id ?? null;
  return type === 'contact.request' ? (data.request_id ?? null) : null;
}
