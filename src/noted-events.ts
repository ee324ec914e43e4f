import type { FeedEntry, NewEvent } from './domain/events.ts';
import type { CommitRecord } from './repositories/commit.ts';
import type { EventRow } from './repositories/feed.ts';
import type { MessageRow } from './repositories/messages.ts';

/** An event that a unit of work has noted, and the message itself where that is at hand. */
export interface NotedEvent extends NewEvent {
  id: string;
  message: MessageRow | null;
}

/** What the commit writes of the events, and whose head it touches because the agent did this and is told nothing of it. */
export function commitRecord(
  events: readonly NotedEvent[],
  now: number,
  actorId: string | null,
): Pick<CommitRecord, 'now' | 'events' | 'entries' | 'touched'> {
  const told = actorId !== null && events.some(({ recipients }) => recipients.includes(actorId));
  return {
    now,
    touched: told ? null : actorId,
    events: events.map((event) => ({
      id: event.id,
      type: event.type,
      thread_id: event.thread_id ?? null,
      message_id: event.message_id ?? null,
      data: event.data ? JSON.stringify(event.data) : null,
    })),
    entries: events.flatMap((event) =>
      event.recipients.map((agent_id) => ({ agent_id, event_id: event.id })),
    ),
  };
}

/** The last of an agent's entries has the last number of its feed, and those before it count down. */
export function linesOf(
  entries: readonly Omit<FeedEntry, 'number'>[],
  heads: readonly { agent_id: string; last_number: number }[],
): FeedEntry[] {
  const next = new Map(heads.map(({ agent_id, last_number }) => [agent_id, last_number]));
  const lines: FeedEntry[] = [];
  for (const { agent_id, event_id } of entries.toReversed()) {
    const number = next.get(agent_id);
    if (number === undefined) continue;
    next.set(agent_id, number - 1);
    lines.push({ agent_id, number, event_id });
  }
  return lines.toReversed();
}

/** The events as the log holds them. One about a message that is not at hand is left out. */
export function logged(
  events: readonly NotedEvent[],
  created_at: number,
  traceparent = null as string | null,
): EventRow[] {
  const whole = events.filter(({ message_id, message }) => message_id === undefined || message !== null);
  return whole.map(({ id, type, thread_id = null, data = null, message }) => {
    return { id, type, thread_id, data, created_at, message, traceparent };
  });
}
