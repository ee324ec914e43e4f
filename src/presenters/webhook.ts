import { z } from 'zod';
import { type EventType, eventTypes } from '../domain/feed/events.ts';
import { deliveryStates, disabledReasons } from '../domain/webhooks.ts';
import { timestamp } from './agent.ts';

const webhookId = z.string().meta({ pattern: '^whk_' }).describe('Webhook identifier, whk_…');

const fields = {
  id: webhookId,
  url: z.string().describe('Where events are posted to.'),
  description: z.string().describe('Your own words.'),
  event_types: z
    .array(z.enum(eventTypes))
    .nullable()
    .describe('Which events are posted; null for every type that your token could see.'),
  only_when_offline: z.boolean().describe('Whether events are posted only while you have no stream open.'),
  enabled: z.boolean().describe('Whether events are posted at all.'),
  disabled_reason: z
    .enum(disabledReasons)
    .nullable()
    .describe('Why not: you said so, the receiver answered 410, or attempts failed to the end.'),
  disabled_at: timestamp.nullable(),
  previous_secret_until: timestamp
    .nullable()
    .describe('Until when the secret before the last rotation signs too.'),
  created_at: timestamp,
  updated_at: timestamp,
};

/** Webhook record. */
export const webhookSchema = z
  .object(fields)
  .meta({ id: 'Webhook' })
  .describe('An address that events of yours are posted to.');

/** The same with its secret, which is shown once. */
export const webhookWithSecretSchema = z
  .object({ ...fields, secret: z.string().meta({ pattern: '^whsec_' }).describe('Signs what is posted.') })
  .meta({ id: 'WebhookWithSecret' })
  .describe('A webhook with its new secret. It is shown this once.');

export type WebhookRecord = z.infer<typeof webhookSchema>;

type WebhookColumns = Omit<WebhookRecord, 'event_types'> & { event_types: string[] | null };

export function presentWebhook(row: WebhookColumns): WebhookRecord {
  // Types that an older or newer release knows are kept, and not shown.
  const event_types = row.event_types?.filter((type): type is EventType =>
    eventTypes.some((known) => known === type),
  );
  return webhookSchema.parse({ ...row, event_types: event_types ?? null });
}

/** Delivery record. */
export const webhookDeliverySchema = z
  .object({
    id: z
      .string()
      .meta({ pattern: '^evt_' })
      .describe('The event; it names the delivery, and stands in webhook-id.'),
    event_type: z.string().describe('What happened.'),
    state: z.enum(deliveryStates).describe('What became of it; skipped: you were online.'),
    attempts: z.int().describe('How often it was posted since it was noted, or last replayed.'),
    next_at: timestamp.nullable().describe('When it is posted next; null when it is not.'),
    last_attempt_at: timestamp.nullable(),
    last_status: z.int().nullable().describe('The status of the last answer; null when there was none.'),
    last_error: z.string().nullable().describe('Why there was none, or why it is no longer posted.'),
    created_at: timestamp,
  })
  .meta({ id: 'WebhookDelivery' })
  .describe('What became of one event at a webhook.');

export type WebhookDeliveryRecord = z.infer<typeof webhookDeliverySchema>;

export function presentWebhookDelivery({
  event_id,
  ...row
}: Omit<WebhookDeliveryRecord, 'id'> & { event_id: string }): WebhookDeliveryRecord {
  return webhookDeliverySchema.parse({ ...row, id: event_id });
}
