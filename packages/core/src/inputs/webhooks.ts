import { z } from 'zod';
import { deliveryStates } from '../domain/webhooks.ts';
import { eventTypes } from '../events/list.ts';
import { atLeastOneField, pageFields, time } from './fields.ts';

export const webhookId = z.string().max(64).describe('Webhook identifier, whk_…');

export const deliveryId = z.string().max(64).describe('Delivery identifier: the id of the event, evt_…');

/** The settings of a webhook. */
const webhookSettings = {
  url: z
    .string()
    .min(1, 'must have at least 1 character')
    .max(2048, 'must have at most 2,048 characters')
    .describe('The https URL that events are posted to. Redirects are not followed.'),
  event_types: z
    .array(z.enum(eventTypes))
    .min(1, 'must have at least one event type')
    .max(eventTypes.length)
    .refine((types) => new Set(types).size === types.length, 'must not contain duplicates')
    .nullable()
    .describe('The event types to post. Null: every type that your token allows.'),
  description: z
    .string()
    .max(200, 'must have at most 200 characters')
    .describe('A description for yourself, at most 200 characters.'),
  only_when_offline: z.boolean().describe('Whether to post events only while you have no open stream.'),
};

export const createWebhookInput = z.strictObject({
  url: webhookSettings.url,
  event_types: webhookSettings.event_types.default(null),
  description: webhookSettings.description.default(''),
  only_when_offline: webhookSettings.only_when_offline.default(false),
});

export const updateWebhookInput = z
  .strictObject({
    webhook_id: webhookId,
    url: webhookSettings.url.optional(),
    event_types: webhookSettings.event_types.optional(),
    description: webhookSettings.description.optional(),
    only_when_offline: webhookSettings.only_when_offline.optional(),
    enabled: z
      .boolean()
      .optional()
      .describe('False cancels pending deliveries. True resets failures and starts with the next event.'),
  })
  .refine(...atLeastOneField);

export const listWebhookDeliveriesInput = z.strictObject({
  webhook_id: webhookId,
  state: z.enum(deliveryStates).optional().describe('Only deliveries in this state.'),
  ...pageFields(100, 50),
});

const maxTime = 8_640_000_000_000_000;

export const replayWebhookDeliveriesInput = z.strictObject({
  webhook_id: webhookId,
  since: time(maxTime).describe(
    'Retry deliveries of events created at or after this time, in Unix milliseconds.',
  ),
});
