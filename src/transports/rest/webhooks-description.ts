import { z } from 'zod';
import { exampleEvents, examplePage } from '../../operations/examples/events.ts';
import type { TransportDescription } from '../../realtime/transport-description.ts';
import { envelopeText, eventEnvelopes } from '../../operations/event-envelope.ts';

const [example] = exampleEvents;
if (!example) throw new Error('no example events are defined');

const headers = z.object({
  'webhook-id': z
    .string()
    .meta({ pattern: '^evt_' })
    .describe('The id of the event. Every attempt has the same id.'),
  'webhook-timestamp': z
    .string()
    .meta({ pattern: '^\\d+$' })
    .describe('Time of the attempt, in seconds since the Unix epoch.'),
  'webhook-signature': z
    .string()
    .meta({ pattern: '^v1,' })
    .describe('The signature. Two, separated by a space, for 24 hours after a secret was rotated.'),
});

const testSchema = z.object({
  type: z.literal('webhook.test').describe('Event type.'),
  id: z
    .string()
    .meta({ pattern: '^evt_' })
    .describe('Event identifier. The test event is not part of any feed.'),
  cursor: z.string().describe('The position at the end of your feed.'),
  created_at: z.int().describe('Milliseconds since the Unix epoch.'),
  data: z
    .object({ webhook_id: z.string().meta({ pattern: '^whk_' }).describe('The webhook.') })
    .describe('The webhook that is tested.'),
});

/** Webhooks, for the AsyncAPI document. */
export const webhooksDescription: TransportDescription = {
  name: 'webhooks',
  title: 'Webhooks',
  description: `
The service posts events to the URLs that you register under \`/v1/webhooks\`. Requests are signed according to Standard Webhooks. Verify the signature of \`{webhook-id}.{webhook-timestamp}.{body}\` before you parse the body.

Respond with any 2xx status to accept an event. Respond with 410 to disable the webhook. Other events are retried for about three days. Delivery is at least once and not ordered: use \`cursor\` and the sequences in the data to order events. You can pass a cursor to any transport to resume after that event.`.trim(),
  protocol: 'http',
  address: null,
  method: 'POST',
  headers: {
    schema: headers,
    example: {
      'webhook-id': example.id,
      'webhook-timestamp': String(Math.floor(example.created_at / 1_000)),
      'webhook-signature': 'v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=',
    },
  },
  event: { schema: (type) => eventEnvelopes.get(type) ?? z.never(), text: envelopeText },
  sends: [
    {
      name: 'test',
      summary: 'A test that you requested.',
      schema: testSchema,
      example: {
        type: 'webhook.test',
        id: example.id,
        cursor: examplePage.cursor,
        created_at: example.created_at,
        data: { webhook_id: 'whk_01K9ZX6S0V3W7Y9Z1C2D4F6G7H' },
      },
    },
  ],
  receives: [],
};
