import { z } from 'zod';
import { eventTypes } from '../domain/events.ts';
import { eventData } from '../presenters/events.ts';
import type { LiveEvent } from './contract.ts';

const [first, ...others] = eventTypes.map((type) =>
  z.object({
    type: z.literal(type).describe('What happened.'),
    id: z
      .string()
      .meta({ pattern: '^evt_' })
      .describe('Event identifier, evt_…; the same at every delivery.'),
    cursor: z.string().describe('The position right behind this event, good at every door.'),
    created_at: z.int().describe('Milliseconds since the Unix epoch.'),
    data: eventData[type],
  }),
);
if (!first) throw new Error('there are no event types');

/** The envelope of the contract, section 4, as a schema over all event types. */
export const eventEnvelope = z.discriminatedUnion('type', [first, ...others]);

/**
 * The same as JSON text. Type, id and cursor are of our own making and need no escaping; the data is the text that all
 * receivers share.
 */
export function envelopeText({ type, id, cursor, created_at, data_json }: LiveEvent): string {
  return `{"type":"${type}","id":"${id}","cursor":"${cursor}","created_at":${created_at},"data":${data_json}}`;
}
