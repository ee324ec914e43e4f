import { z } from 'zod';
import { isDelivered, type OutboundResponse } from '../domain/outbound.ts';
import { type EventType, eventTypes } from './list.ts';
import { deliveryStates, disabledReasons } from '../domain/webhooks.ts';
import { timestamp } from '../records/agent.ts';

const webhookId = z.string().meta({ pattern: '^whk_' }).describe('Webhook identifier, whk_…');

const fields = {
  id: webhookId,
  url: z.string().describe('URL that receives the events.'),
  description: z.string().describe('Description for people.'),
  event_types: z
    .array(z.enum(eventTypes))
    .nullable()
    .describe('Event types to send; null for all types that your token can see.'),
  only_when_offline: z.boolean().describe('Whether events are sent only while you have no open stream.'),
  enabled: z.boolean().describe('Whether events are sent.'),
  disabled_reason: z
    .enum(disabledReasons)
    .nullable()
    .describe(
      'Why it is disabled: by request, because the receiver responded with 410, or because all attempts failed.',
    ),
  disabled_at: timestamp.nullable(),
  previous_secret_until: timestamp.nullable().describe('Until when the previous secret also signs.'),
  created_at: timestamp,
  updated_at: timestamp,
};

/** Webhook record. */
export const webhookSchema = z
  .object(fields)
  .meta({ id: 'Webhook' })
  .describe('A URL that receives your events.');

/** Webhook record with its secret, which is shown once. */
export const webhookWithSecretSchema = z
  .object({ ...fields, secret: z.string().meta({ pattern: '^whsec_' }).describe('Signs the requests.') })
  .meta({ id: 'WebhookWithSecret' })
  .describe('A webhook with its new secret, which cannot be shown again.');

export type WebhookRecord = z.infer<typeof webhookSchema>;

type WebhookColumns = Omit<WebhookRecord, 'event_types'> & { event_types: string[] | null };

/** Returns a webhook. Event types of other releases are stored but not shown. */
export function presentWebhook(row: WebhookColumns): WebhookRecord {
  const event_types = row.event_types?.filter((type): type is EventType =>
    eventTypes.some((eventType) => eventType === type),
  );
  return webhookSchema.parse({ ...row, event_types: event_types ?? null });
}

/** Delivery record. */
export const webhookDeliverySchema = z
  .object({
    id: z
      .string()
      .meta({ pattern: '^evt_' })
      .describe('Event id; it identifies the delivery and is sent as webhook-id.'),
    event_type: z.string().describe('Type of the event.'),
    state: z
      .enum(deliveryStates)
      .describe(
        'State of the delivery; skipped means that you were online, or that the scopes of the webhook no longer show the event.',
      ),
    attempts: z.int().describe('Number of attempts since it was created or last replayed.'),
    next_at: timestamp.nullable().describe('Time of the next attempt; null if there is none.'),
    last_attempt_at: timestamp.nullable(),
    last_status: z.int().nullable().describe('Status code of the last response; null if there was none.'),
    last_error: z.string().nullable().describe('Why there was no response, or why the delivery ended.'),
    last_duration_ms: z.int().nullable().describe('Milliseconds that the last attempt took.'),
    last_response: z
      .string()
      .nullable()
      .describe('The first 1,024 bytes of the last response, if its status was not from 200 to 299.'),
    created_at: timestamp,
  })
  .meta({ id: 'WebhookDelivery' })
  .describe('The delivery of one event to a webhook.');

export type WebhookDeliveryRecord = z.infer<typeof webhookDeliverySchema>;

/** Returns a delivery. */
export function presentWebhookDelivery({
  event_id,
  ...row
}: Omit<WebhookDeliveryRecord, 'id'> & { event_id: string }): WebhookDeliveryRecord {
  return webhookDeliverySchema.parse({ ...row, id: event_id });
}

/** Returns what a test event showed. */
export function presentWebhookTest(answer: OutboundResponse) {
  const { status, error, duration_ms, response = null } = answer;
  return { delivered: isDelivered(answer), status, error, duration_ms, response };
}
