import type { z } from 'zod';
import { agentUpdated } from './agent/updated.ts';
import { approvalResolved } from './approval/resolved.ts';
import { attachmentScanned } from './attachment/scanned.ts';
import { contactAdded } from './contact/added.ts';
import { contactRemoved } from './contact/removed.ts';
import { contactRequest } from './contact/request.ts';
import { contactUpdated } from './contact/updated.ts';
import type { EventDefinition } from './define-event.ts';
import { inboxExpired } from './inbox/expired.ts';
import { messageCreated } from './message/created.ts';
import { messageDelivered } from './message/delivered.ts';
import { messageHandled } from './message/handled.ts';
import { messageRead } from './message/read.ts';
import { messageUndeliverable } from './message/undeliverable.ts';
import { messageWithdrawn } from './message/withdrawn.ts';
import { threadCreated } from './thread/created.ts';
import { taskUpdated } from './task/updated.ts';
import { memberAdded } from './thread/member-added.ts';
import { memberRemoved } from './thread/member-removed.ts';
import { threadUnwatched } from './thread/unwatched.ts';
import { threadUpdated } from './thread/updated.ts';
import { threadWatched } from './thread/watched.ts';

/** Every event, in the order of the published documents. */
const events = [
  messageCreated,
  threadCreated,
  threadUpdated,
  memberAdded,
  memberRemoved,
  threadWatched,
  threadUnwatched,
  messageDelivered,
  messageRead,
  messageHandled,
  messageUndeliverable,
  messageWithdrawn,
  taskUpdated,
  attachmentScanned,
  contactRequest,
  contactAdded,
  contactUpdated,
  contactRemoved,
  approvalResolved,
  inboxExpired,
  agentUpdated,
] as const;

type Definition = (typeof events)[number];

export type EventType = Definition['type'];

/** The public data of a type of event. */
export type EventDataOf<Type extends EventType> = z.infer<Extract<Definition, { type: Type }>['data']>;

export const eventTypes: EventType[] = events.map(({ type }) => type);

const definitions = new Map<string, EventDefinition>(events.map((event) => [event.type, event]));

/** Whether a text is the type of an event. */
export const isEventType = (text: string): text is EventType => definitions.has(text);

/** The definition of an event. */
export function eventOf(type: EventType): EventDefinition {
  const found = definitions.get(type);
  if (!found) throw new Error(`${type} is no event type`);
  return found;
}
