import { z } from 'zod';
import type { FeedHistory, SeenEvent } from '../history.ts';
import type { Violation } from './violation.ts';

const agent = z.looseObject({ id: z.string() });
const memberChange = z.looseObject({
  thread_id: z.string(),
  member: agent,
  by: agent,
  thread: z.looseObject({ members: z.array(agent), last_sequence: z.int() }),
});

/** The fields that the checker reads, by event type. */
const schemas = {
  'message.created': z.looseObject({
    id: z.string(),
    thread_id: z.string(),
    sequence: z.int(),
    content: z.string(),
    sender: agent,
    attachments: z.array(z.looseObject({ id: z.string() })),
  }),
  'message.read': z.looseObject({ thread_id: z.string(), agent, up_to_sequence: z.int() }),
  'message.handled': z.looseObject({ thread_id: z.string(), agent, up_to_sequence: z.int() }),
  'message.delivered': z.looseObject({
    thread_id: z.string(),
    members: z.array(z.looseObject({ id: z.string(), up_to_sequence: z.int() })),
  }),
  'thread.created': z.looseObject({ id: z.string(), members: z.array(agent) }),
  'thread.member_added': memberChange,
  'thread.member_removed': memberChange,
  'contact.request': z.looseObject({ request_id: z.string(), from: agent }),
  'attachment.scanned': z.looseObject({ attachment_id: z.string(), scan_status: z.string() }),
};

type Schemas = typeof schemas;
type KnownType = keyof Schemas;

/** An event with its data, by type. */
export type ParsedEvent = {
  [Type in KnownType]: { type: Type; data: z.infer<Schemas[Type]>; seen: SeenEvent };
}[KnownType];

export type MessageData = z.infer<Schemas['message.created']>;

export interface ParsedFeed {
  agent_id: string;
  events: ParsedEvent[];
}

/** Parses the events of a feed. Leaves out other types, and events whose data is not as documented: these are violations. */
export function parseFeed({ agent_id, events }: FeedHistory): ParsedFeed & { violations: Violation[] } {
  const parsed: ParsedEvent[] = [];
  const violations: Violation[] = [];
  for (const seen of events) {
    if (!Object.hasOwn(schemas, seen.type)) continue;
    const { success, data } = schemas[seen.type as KnownType].safeParse(seen.data);
    if (success) parsed.push({ type: seen.type, data, seen } as ParsedEvent);
    else {
      const detail = `event ${seen.event_id} (${seen.type}) in the feed of ${agent_id} has other fields`;
      violations.push({ kind: 'changed', detail });
    }
  }
  return { agent_id, events: parsed, violations };
}
