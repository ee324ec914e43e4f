import { z } from 'zod';
import { type EventType, eventTypes } from '../domain/feed/events.ts';
import { eventData } from '../presenters/events.ts';
import type { ShownEvent } from './contract.ts';

function envelopeOf<Type extends EventType>(type: Type) {
  const words = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return z
    .object({
      type: z.literal(type).describe('What happened.'),
      id: z
        .string()
        .meta({ pattern: '^evt_' })
        .describe('Event identifier, evt_…; the same at every delivery.'),
      cursor: z.string().describe('The position right behind this event, good at every door.'),
      created_at: z.int().describe('Milliseconds since the Unix epoch.'),
      data: eventData[type],
      traceparent: z
        .string()
        .optional()
        .describe('The trace of what caused the event (W3C Trace Context), where the service traces.'),
    })
    .meta({ id: `${words.join('')}Event`, description: eventData[type].description });
}

/** The envelope of the contract, section 4, of each event type. */
export const eventEnvelopes = new Map(eventTypes.map((type) => [type, envelopeOf(type)]));

const [first, ...others] = eventEnvelopes.values();
if (!first) throw new Error('there are no event types');

/** The same as one schema over all event types. */
export const eventEnvelope = z.discriminatedUnion('type', [first, ...others]);

/** The data of events of one type. */
export function eventDataOf(type: EventType): z.ZodObject {
  return eventData[type];
}

/**
 * The envelope as JSON text. Type, id, cursor and trace are of our own making and need no escaping; the data is the text that all
 * receivers share.
 */
export function envelopeText({ type, id, cursor, created_at, data_json, traceparent }: ShownEvent): string {
  const trace = traceparent === undefined ? '' : `,"traceparent":"${traceparent}"`;
  return `{"type":"${type}","id":"${id}","cursor":"${cursor}","created_at":${created_at},"data":${data_json}${trace}}`;
}
