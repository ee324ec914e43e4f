import { z } from 'zod';
import { exampleEvents, examplePage } from '../../operations/examples/events.ts';
import type { TransportDescription } from '../../realtime/transport-description.ts';
import { envelopeText, eventEnvelopes } from '../../realtime/envelope.ts';

const [example] = exampleEvents;
if (!example) throw new Error('there are no examples of events');

const headers = z.object({
  'webhook-id': z
    .string()
    .meta({ pattern: '^evt_' })
    .describe('The id of the event; the same at every attempt.'),
  'webhook-timestamp': z
    .string()
    .meta({ pattern: '^\\d+$' })
    .describe('When it was posted, in seconds since the Unix epoch.'),
  'webhook-signature': z
    .string()
    .meta({ pattern: '^v1,' })
    .describe('One signature, or two while the secret is being replaced, with a space between them.'),
});

const testSchema = z.object({
  type: z.literal('webhook.test').describe('You asked for it.'),
  id: z.string().meta({ pattern: '^evt_' }).describe('An identifier of its own; it stands in no feed.'),
  cursor: z.string().describe('Where the feed ends.'),
  created_at: z.int().describe('Milliseconds since the Unix epoch.'),
  data: z
    .object({ webhook_id: z.string().meta({ pattern: '^whk_' }).describe('The webhook that is tried.') })
    .describe('Which one is tried.'),
});

/** The posts to webhooks, for the description of the events. */
export const webhooksDescription: TransportDescription = {
  name: 'webhooks',
  title: 'Webhooks',
  description: `
Events are posted to the addresses that are named under \`/v1/webhooks\`, signed as Standard Webhooks has it. Check the signature over \`{webhook-id}.{webhook-timestamp}.{body}\` before you read the body.

Any 2xx takes an event; 410 ends the webhook. What is not taken is posted again for about three days. Delivery is at least once and not in order: \`cursor\` and the sequences in the data tell the order, and any other door goes on behind a cursor.`.trim(),
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
      summary: 'You asked for a test.',
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
