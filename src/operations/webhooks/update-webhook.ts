import { z } from 'zod';
import { presentWebhook, webhookSchema } from '../../../packages/core/src/events/webhook-record.ts';
import { updateWebhook } from '../../services/webhooks/webhooks.ts';
import { defineOperation } from '../define.ts';
import { atLeastOneField } from '../fields.ts';
import { exampleWebhook, webhookId, webhookSettings } from './fields.ts';

export const updateWebhookOperation = defineOperation({
  name: 'update_webhook',
  summary: 'Update, disable or enable a webhook',
  scope: 'agents:write',
  kind: 'write',
  input: z
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
    .refine(...atLeastOneField),
  output: webhookSchema,
  errors: ['NOT_FOUND'],
  example: { input: { webhook_id: exampleWebhook.id, enabled: true }, output: exampleWebhook },
  async run(work, { webhook_id, ...changes }) {
    return presentWebhook(await updateWebhook(work, work.actor, webhook_id, changes));
  },
  rest: { method: 'PATCH', path: '/webhooks/{webhook_id}', status: 200, idempotency: 'accepted' },
});
