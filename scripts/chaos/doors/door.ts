import type { Agent } from '../population.ts';

/** An event as it arrives, at whatever door. */
export interface Arrival {
  event_id: string;
  type: string;
  cursor: string;
  subject: string | null;
}

export interface Visit {
  base: string;
  agent: Agent;
  /** Where to go on: behind the last event that was taken. */
  cursor: string;
  take(arrival: Arrival): void;
  /** Told of what the service must not say to a reader. */
  complain(what: string): void;
  signal: AbortSignal;
}

/** One connection at one door, from its opening to its end, however it ends. Never rejects. */
export type Door = (visit: Visit) => Promise<void>;

interface Subjects {
  id?: string | undefined;
  request_id?: string | undefined;
}

/** What an event is about, for those events that the checker counts. */
export function subjectOf(type: string, data: Subjects): string | null {
  if (type === 'message.created' || type === 'thread.created') return data.id ?? null;
  return type === 'contact.request' ? (data.request_id ?? null) : null;
}
