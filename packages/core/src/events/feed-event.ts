import { allows, sufficientScopes } from '../domain/auth/scopes.ts';
import { DomainError } from '../domain/errors.ts';
import { eventOf, type EventType, eventTypes } from './list.ts';

/** An event, written in the transaction of its cause for every agent concerned. */
export interface NewEvent {
  type: EventType;
  thread_id?: string;
  /** For events about a message: its row holds the data. */
  message_id?: string;
  /** For all other events: the data as clients receive it. */
  data?: object;
  /** Ids of the agents whose feeds get the event, including the actor. */
  recipients: readonly string[];
}

/** An event as it is stored. */
export interface FeedEntry {
  agent_id: string;
  number: number;
  event_id: string;
}

/** Whether a token with the scopes `granted` may see events of this type. */
export function canSeeEvent(granted: ReadonlySet<string>, type: EventType): boolean {
  return allows(granted, eventOf(type).scope) || granted.has('realtime:read');
}

/** The scopes that show each event type: one pair for each sufficient scope. */
export const typesByScope: readonly { type: string; scope: string }[] = eventTypes.flatMap((type) =>
  [...sufficientScopes(eventOf(type).scope), 'realtime:read'].map((scope) => ({ type, scope })),
);

/**
 * A webhook gets only events that the caller's token could stream.
 * @throws {DomainError} INSUFFICIENT_SCOPE
 */
export function requireVisibleEventTypes(
  granted: ReadonlySet<string>,
  types: readonly EventType[] | null,
): void {
  const hidden = types?.find((type) => !canSeeEvent(granted, type));
  if (hidden === undefined) return;
  const { scope } = eventOf(hidden);
  const message = `Events of type ${hidden} need a token with the scope ${scope}.`;
  throw new DomainError('INSUFFICIENT_SCOPE', message, { scope });
}
