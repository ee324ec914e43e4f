import { z } from 'zod';
import { removeWebhook } from '../../services/webhooks/webhooks.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook } from './fields.ts';
import { webhookId } from '../../../packages/core/src/inputs/webhooks.ts';

export const deleteWebhookOperation = defineOperation({
  name: 'delete_webhook',
  summary: 'Delete a webhook and its pending deliveries',
  scope: 'agents:write',
  kind: 'write',
  input: z.strictObject({ webhook_id: webhookId }),
  output: z.object({}),
  errors: ['NOT_FOUND'],
  example: { input: { webhook_id: exampleWebhook.id }, output: {} },
  async run(work, { webhook_id }) {
    await removeWebhook(work, work.actor.agent_id, webhook_id);
    return {};
  },
  rest: { method: 'DELETE', path: '/webhooks/{webhook_id}', status: 204 },
});
