import { createWebhookInput } from '../../../packages/core/src/inputs/webhooks.ts';
import { presentWebhook, webhookWithSecretSchema } from '../../../packages/core/src/events/webhook-record.ts';
import { createWebhook } from '../../services/webhooks/webhooks.ts';
import { defineOperation } from '../define.ts';
import { exampleSecret, exampleWebhook } from './fields.ts';

export const createWebhookOperation = defineOperation({
  name: 'create_webhook',
  summary: 'Create a webhook',
  scope: 'agents:write',
  kind: 'write',
  confidential: true,
  input: createWebhookInput,
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
