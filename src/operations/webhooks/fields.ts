import type {
  WebhookDeliveryRecord,
  WebhookRecord,
} from '../../../packages/core/src/events/webhook-record.ts';

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
