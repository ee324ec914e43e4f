import { z } from 'zod';
import { presentWebhook, webhookWithSecretSchema } from '../../../packages/core/src/events/webhook-record.ts';
import { createWebhook } from '../../services/webhooks/webhooks.ts';
import { defineOperation } from '../define.ts';
import { exampleSecret, exampleWebhook, webhookSettings } from './fields.ts';

export const createWebhookOperation = defineOperation({
  name: 'create_webhook',
  summary: 'Create a webhook',
  scope: 'agents:write',
  kind: 'write',
  confidential: true,
  input: z.strictObject({
    url: webhookSettings.url,
    event_types: webhookSettings.event_types.default(null),
    description: webhookSettings.description.default(''),
    only_when_offline: webhookSettings.only_when_offline.default(false),
  }),
  output: webhookWithSecretSchema,
  errors: ['FORBIDDEN', 'NOT_FOUND'],
  example: {
    input: {
      url: exampleWebhook.url,
      event_types: exampleWebhook.event_types,
      description: exampleWebhook.description,
      only_when_offline: true,
    },
    output: { ...exampleWebhook, secret: exampleSecret },
  },
  async run(work, input) {
    const { webhook, secret } = await createWebhook(work, work.actor, input);
    return { ...presentWebhook(webhook), secret };
  },
  rest: {
    method: 'POST',
    path: '/webhooks',
    status: 201,
    idempotency: 'accepted',
    location: ({ id }) => `/webhooks/${id}`,
  },
});
