import {
  type EventDataOf,
  eventOf,
  type EventType,
  isEventType,
} from '../../packages/core/src/events/list.ts';
import type { FeedHistory, SeenEvent } from '../history.ts';
import type { Violation } from './violation.ts';

/** An event with its data, by type. */
export type ParsedEvent = {
  [Type in EventType]: { type: Type; data: EventDataOf<Type>; seen: SeenEvent };
}[EventType];

export type MessageData = EventDataOf<'message.created'>;

export interface ParsedFeed {
  agent_id: string;
  events: ParsedEvent[];
}

/** Parses the events of a feed. Those whose type or data is not as documented are left out: they are violations. */
export function parseFeed({ agent_id, events }: FeedHistory): ParsedFeed & { violations: Violation[] } {
  const parsed: ParsedEvent[] = [];
  const violations: Violation[] = [];
  for (const seen of events) {
    const read = isEventType(seen.type) ? eventOf(seen.type).data.safeParse(seen.data) : undefined;
    if (read?.success) parsed.push({ type: seen.type, data: read.data, seen } as ParsedEvent);
    else {
      const detail = `event ${seen.event_id} (${seen.type}) in the feed of ${agent_id} has other fields`;
      violations.push({ kind: 'changed', detail });
    }
  }
  return { agent_id, events: parsed, violations };
}
