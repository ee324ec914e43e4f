import { z } from 'zod';
import { replayWebhookDeliveriesInput } from '../../../packages/core/src/inputs/webhooks.ts';
import { maxReplayed, replayFailed, webhookMessage } from '../../services/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook } from './fields.ts';

export const replayWebhookDeliveriesOperation = defineOperation({
  name: 'replay_webhook_deliveries',
  summary: 'Retry the failed deliveries of a webhook',
  scope: 'agents:write',
  kind: 'write',
  input: replayWebhookDeliveriesInput,
  output: z.object({
    replayed: z
      .int()
      .describe(`Number of deliveries that are retried, oldest first; at most ${maxReplayed} per request.`),
    complete: z.boolean().describe('False when there may be more. Send the request again.'),
  }),
  errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { webhook_id: exampleWebhook.id, since: exampleWebhook.created_at },
    output: { replayed: 12, complete: true },
  },
  async run(work, { webhook_id, since }) {
    const result = await replayFailed(work, work.actor.agent_id, webhook_id, since);
    work.changes.publish(webhookMessage(webhook_id));
    return result;
  },
  rest: {
    method: 'POST',
    path: '/webhooks/{webhook_id}/replay',
    status: 200,
    idempotency: 'accepted',
  },
});
