import { z } from 'zod';
import { presentWebhook, webhookWithSecretSchema } from '../../../packages/core/src/events/webhook-record.ts';
import { rotateWebhookSecret } from '../../services/webhooks/webhooks.ts';
import { defineOperation } from '../define.ts';
import { exampleSecret, exampleWebhook } from './fields.ts';
import { webhookId } from '../../../packages/core/src/inputs/webhooks.ts';

export const rotateWebhookSecretOperation = defineOperation({
  name: 'rotate_webhook_secret',
  summary: 'Rotate the secret of a webhook; the old one stays valid for 24 hours',
  scope: 'agents:write',
  kind: 'write',
  confidential: true,
  input: z.strictObject({ webhook_id: webhookId }),
  output: webhookWithSecretSchema,
  errors: ['NOT_FOUND'],
  example: {
    input: { webhook_id: exampleWebhook.id },
    output: { ...exampleWebhook, previous_secret_until: 1_794_086_400_000, secret: exampleSecret },
  },
  async run(work, { webhook_id }) {
    const { webhook, secret } = await rotateWebhookSecret(work, work.actor.agent_id, webhook_id);
    return { ...presentWebhook(webhook), secret };
  },
  rest: {
    method: 'POST',
    path: '/webhooks/{webhook_id}/rotate-secret',
    status: 200,
    idempotency: 'accepted',
  },
});
