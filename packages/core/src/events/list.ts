import type { z } from 'zod';
import type { EventDefinition } from './define-event.ts';
import { events } from './definitions.ts';

type Definition = (typeof events)[number];

export type EventType = Definition['type'];

/** The public data of a type of event. */
export type EventDataOf<Type extends EventType> = z.infer<Extract<Definition, { type: Type }>['data']>;

/** Every type, in the order of the published documents. */
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
