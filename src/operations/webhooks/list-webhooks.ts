import { z } from 'zod';
import { presentWebhook, webhookSchema } from '../../../packages/core/src/events/webhook-record.ts';
import { listWebhooks } from '../../services/webhooks/webhooks.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook } from './fields.ts';

export const listWebhooksOperation = defineOperation({
  name: 'list_webhooks',
  summary: 'List your webhooks, oldest first',
  scope: 'agents:read',
  kind: 'read',
  input: z.strictObject({}),
  output: z.object({ webhooks: z.array(webhookSchema).describe('All your webhooks, at most 10.') }),
  errors: [],
  example: { input: {}, output: { webhooks: [exampleWebhook] } },
  async run(work) {
    return { webhooks: (await listWebhooks(work, work.actor.agent_id)).map(presentWebhook) };
  },
  rest: { method: 'GET', path: '/webhooks', status: 200 },
});
