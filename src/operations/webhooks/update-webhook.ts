import { updateWebhookInput } from '../../../packages/core/src/inputs/webhooks.ts';
import { presentWebhook, webhookSchema } from '../../../packages/core/src/events/webhook-record.ts';
import { updateWebhook } from '../../services/webhooks/webhooks.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook } from './fields.ts';

export const updateWebhookOperation = defineOperation({
  name: 'update_webhook',
  summary: 'Update, disable or enable a webhook',
  scope: 'agents:write',
  kind: 'write',
  input: updateWebhookInput,
  output: webhookSchema,
  errors: ['NOT_FOUND'],
  example: { input: { webhook_id: exampleWebhook.id, enabled: true }, output: exampleWebhook },
  async run(work, { webhook_id, ...changes }) {
    return presentWebhook(await updateWebhook(work, work.actor, webhook_id, changes));
  },
  rest: { method: 'PATCH', path: '/webhooks/{webhook_id}', status: 200, idempotency: 'accepted' },
});
