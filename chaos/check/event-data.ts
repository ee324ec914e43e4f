import type { z } from 'zod';
import { attachmentScanned } from '../../packages/core/src/events/attachment/scanned.ts';
import { contactRequest } from '../../packages/core/src/events/contact/request.ts';
import { messageCreated } from '../../packages/core/src/events/message/created.ts';
import { messageDelivered } from '../../packages/core/src/events/message/delivered.ts';
import { messageHandled } from '../../packages/core/src/events/message/handled.ts';
import { messageRead } from '../../packages/core/src/events/message/read.ts';
import { threadCreated } from '../../packages/core/src/events/thread/created.ts';
import { memberAdded } from '../../packages/core/src/events/thread/member-added.ts';
import { memberRemoved } from '../../packages/core/src/events/thread/member-removed.ts';
import type { FeedHistory, SeenEvent } from '../history.ts';
import type { Violation } from './violation.ts';

/** The events that the checker reads, by type. */
const schemas = {
  'message.created': messageCreated.data,
  'message.read': messageRead.data,
  'message.handled': messageHandled.data,
  'message.delivered': messageDelivered.data,
  'thread.created': threadCreated.data,
  'thread.member_added': memberAdded.data,
  'thread.member_removed': memberRemoved.data,
  'contact.request': contactRequest.data,
  'attachment.scanned': attachmentScanned.data,
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
