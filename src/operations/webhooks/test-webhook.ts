import { z } from 'zod';
import { isDelivered } from '../../domain/outbound.ts';
import { sendTestEvent } from '../../services/webhooks/send-test-event.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook, webhookId } from './fields.ts';

/** A read, as far as the database is concerned: nothing is held while the receiver takes its time. */
export const testWebhookOperation = defineOperation({
  name: 'test_webhook',
  summary: 'Post a webhook.test event to a webhook at once, and hear what came back',
  scope: 'agents:write',
  kind: 'read',
  limit: 'webhook_test',
  input: z.strictObject({ webhook_id: webhookId }),
  output: z
    .object({
      delivered: z.boolean().describe('Whether the receiver took it, with a status from 200 to 299.'),
      status: z.int().nullable().describe('The status of the answer; null when there was none.'),
      error: z.string().nullable().describe('Why there was none.'),
    })
    .meta({ id: 'WebhookTest' }),
  errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { webhook_id: exampleWebhook.id },
    output: { delivered: true, status: 204, error: null },
  },
  async run(work, { webhook_id }) {
    const posted = await sendTestEvent(work, work.actor.agent_id, webhook_id);
    return { delivered: isDelivered(posted), status: posted.status, error: posted.error };
  },
  rest: { method: 'POST', path: '/webhooks/{webhook_id}/test', status: 200 },
});
