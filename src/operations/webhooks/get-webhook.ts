import { z } from 'zod';
import { presentWebhook, webhookSchema } from '../../../packages/core/src/events/webhook-record.ts';
import { requireWebhook } from '../../services/webhooks/access.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook } from './fields.ts';
import { webhookId } from '../../../packages/core/src/inputs/webhooks.ts';

export const getWebhookOperation = defineOperation({
  name: 'get_webhook',
  summary: 'Retrieve a webhook',
  scope: 'agents:read',
  kind: 'read',
  input: z.strictObject({ webhook_id: webhookId }),
  output: webhookSchema,
  errors: ['NOT_FOUND'],
  example: { input: { webhook_id: exampleWebhook.id }, output: exampleWebhook },
  async run(work, { webhook_id }) {
    return presentWebhook(await requireWebhook(work, work.actor.agent_id, webhook_id));
  },
  rest: { method: 'GET', path: '/webhooks/{webhook_id}', status: 200 },
});
