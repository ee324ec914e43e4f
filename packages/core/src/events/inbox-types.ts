import type { Actor } from '../domain/auth/actor.ts';
import { canSeeEvent } from './feed-event.ts';
import { eventOf, type EventType, eventTypes } from './list.ts';

/** The event types that can be items of an inbox. */
export const inboxTypes = eventTypes.filter((type) => eventOf(type).isInboxItem);

/** Those of these event types that the token may see. */
export function visibleTypes(types: readonly string[], { scopes }: Pick<Actor, 'scopes'>): EventType[] {
  return inboxTypes.filter((type) => types.includes(type) && canSeeEvent(scopes, type));
}
