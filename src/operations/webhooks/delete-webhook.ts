import { z } from 'zod';
import { removeWebhook } from '../../services/webhooks/webhooks.ts';
import { defineAction } from '../define.ts';
import { exampleWebhook } from './fields.ts';
import { webhookId } from '../../../packages/core/src/inputs/webhooks.ts';

export const deleteWebhookOperation = defineAction({
  name: 'delete_webhook',
  summary: 'Delete a webhook and its pending deliveries',
  scope: 'agents:write',
  kind: 'write',
  input: z.strictObject({ webhook_id: webhookId }),
  errors: ['NOT_FOUND'],
  example: { webhook_id: exampleWebhook.id },
  run: (work, { webhook_id }) => removeWebhook(work, work.actor.agent_id, webhook_id),
  rest: { method: 'DELETE', path: '/webhooks/{webhook_id}', status: 204 },
});
