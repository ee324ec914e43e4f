import { z } from 'zod';
import { maxReplayed, replayFailed, webhookMessage } from '../../services/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { exampleWebhook, webhookId } from './fields.ts';

const maxTime = 8_640_000_000_000_000;

export const replayWebhookDeliveriesOperation = defineOperation({
  name: 'replay_webhook_deliveries',
  summary: 'Post once more what failed for good since a time',
  scope: 'agents:write',
  kind: 'write',
  input: z.strictObject({
    webhook_id: webhookId,
    since: z.int().min(0).max(maxTime).describe('When the oldest of these events happened, in milliseconds.'),
  }),
  output: z.object({
    replayed: z.int().describe(`How many, the oldest first; at most ${maxReplayed} in one call.`),
    complete: z.boolean().describe('False when more may be left; call again.'),
  }),
  errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { webhook_id: exampleWebhook.id, since: exampleWebhook.created_at },
    output: { replayed: 12, complete: true },
  },
  async run(work, { webhook_id, since }) {
    const answer = await replayFailed(work, work.actor.agent_id, webhook_id, since);
    work.publish(webhookMessage(webhook_id));
    return answer;
  },
  rest: {
    method: 'POST',
    path: '/webhooks/{webhook_id}/replay',
    status: 200,
    idempotency: 'accepted',
  },
});
