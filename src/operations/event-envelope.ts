import { z } from 'zod';
import { eventOf, type EventType, eventTypes } from '../../packages/core/src/events/list.ts';

/** The fields of an event that a transport sends, with its data as JSON text. */
interface ShownEvent {
  id: string;
  type: EventType;
  cursor: string;
  /** For a reader of several agents. */
  agent_id?: string;
  created_at: number;
  data_json: string;
  traceparent?: string;
}

function envelopeOf<Type extends EventType>(type: Type) {
  const { data } = eventOf(type);
  const nameParts = type.split(/[._]/).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return z
    .object({
      type: z.literal(type).describe('What happened.'),
      id: z
        .string()
        .meta({ pattern: '^evt_' })
        .describe('Event identifier, evt_…. Repeated deliveries have the same id.'),
      cursor: z
        .string()
        .describe('The feed position after this event. Pass it to any transport to resume from here.'),
      created_at: z.int().describe('Milliseconds since the Unix epoch.'),
      data,
      agent_id: z
        .string()
        .meta({ pattern: '^agt_' })
        .optional()
        .describe('The agent whose event it is. Only with watch=owner.'),
      traceparent: z
        .string()
        .optional()
        .describe('W3C Trace Context of the request that caused the event, if it was traced.'),
    })
    .meta({ id: `${nameParts.join('')}Event`, description: data.description });
}

/** The schema of the event envelope, by event type. */
export const eventEnvelopes = new Map(eventTypes.map((type) => [type, envelopeOf(type)]));

const [first, ...others] = eventEnvelopes.values();
if (!first) throw new Error('no event types are defined');

/** The schema of an event of any type. */
export const eventEnvelope = z.discriminatedUnion('type', [first, ...others]);

/** The envelope as JSON text. Only `data_json` can contain characters that need escaping, and it is serialized already. */
export function envelopeText(event: ShownEvent): string {
  const { type, id, cursor, agent_id, created_at, data_json, traceparent } = event;
  const agent = agent_id === undefined ? '' : `,"agent_id":"${agent_id}"`;
  const trace = traceparent === undefined ? '' : `,"traceparent":"${traceparent}"`;
  return `{"type":"${type}","id":"${id}","cursor":"${cursor}","created_at":${created_at},"data":${data_json}${agent}${trace}}`;
}
