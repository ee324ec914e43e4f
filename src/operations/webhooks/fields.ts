import { z } from 'zod';
import { eventTypes } from '../../../packages/core/src/events/list.ts';
import type {
  WebhookDeliveryRecord,
  WebhookRecord,
} from '../../../packages/core/src/events/webhook-record.ts';

export const webhookId = z.string().max(64).describe('Webhook identifier, whk_…');

export const deliveryId = z.string().max(64).describe('Delivery identifier: the id of the event, evt_…');

/** The settings of a webhook. */
export const webhookSettings = {
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

export const exampleWebhook: WebhookRecord = {
  id: 'whk_01K9ZX7R9V2W6Y8Z0A1C3E5F6G',
  url: 'https://planner.acme.example/events',
  description: 'Wakes the planner up.',
  event_types: ['message.created', 'contact.request'],
  only_when_offline: true,
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  previous_secret_until: null,
  created_at: 1_794_000_000_000,
  updated_at: 1_794_000_000_000,
};

export const exampleSecret = 'whsec_ZXhhbXBsZSBvZiBhIHNlY3JldCwgb2YgMzIgYnl0ZXM=';

export const exampleDelivery: WebhookDeliveryRecord = {
  id: 'evt_01K9ZX6Q8T1V5X7Y9Z1B3D4E5F',
  event_type: 'message.created',
  state: 'pending',
  attempts: 1,
  next_at: 1_794_000_065_000,
  last_attempt_at: 1_794_000_060_000,
  last_status: 503,
  last_error: null,
  last_duration_ms: 84,
  last_response: 'upstream is starting',
  created_at: 1_794_000_060_000,
};
