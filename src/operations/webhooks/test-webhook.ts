import { z } from 'zod';
import { presentWebhookTest } from '../../../packages/core/src/events/webhook-record.ts';
import { sendTestEvent } from '../../services/webhooks/send-test-event.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook } from './fields.ts';
import { webhookId } from '../../../packages/core/src/inputs/webhooks.ts';

/** `kind: 'read'`, so that no transaction is open while the receiver responds. */
export const testWebhookOperation = defineOperation({
  name: 'test_webhook',
  summary: 'Send a test event to a webhook and return the response',
  scope: 'agents:write',
  kind: 'read',
  limit: { budget: 'webhook_test' },
  input: z.strictObject({ webhook_id: webhookId }),
  output: z
    .object({
      delivered: z.boolean().describe('Whether the receiver responded with a status from 200 to 299.'),
      status: z.int().nullable().describe('The status of the response. Null if there was none.'),
      error: z.string().nullable().describe('Why there was no response.'),
      duration_ms: z.int().describe('Milliseconds that the attempt took.'),
      response: z
        .string()
        .nullable()
        .describe('The first 1,024 bytes of the response, if its status was not from 200 to 299.'),
    })
    .meta({ id: 'WebhookTest' }),
  errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { webhook_id: exampleWebhook.id },
    output: { delivered: true, status: 204, error: null, duration_ms: 84, response: null },
  },
  async run(work, { webhook_id }) {
    return presentWebhookTest(await sendTestEvent(work, work.actor.agent_id, webhook_id));
  },
  rest: { method: 'POST', path: '/webhooks/{webhook_id}/test', status: 200 },
});
