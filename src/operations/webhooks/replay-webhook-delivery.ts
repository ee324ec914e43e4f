import { z } from 'zod';
import {
  presentWebhookDelivery,
  webhookDeliverySchema,
} from '../../../packages/core/src/events/webhook-record.ts';
import { replayDelivery, webhookMessage } from '../../services/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { deliveryId, webhookId } from '../../../packages/core/src/inputs/webhooks.ts';
import { exampleDelivery, exampleWebhook } from './fields.ts';

export const replayWebhookDeliveryOperation = defineOperation({
  name: 'replay_webhook_delivery',
  summary: 'Send a delivery again',
  scope: 'agents:write',
  kind: 'write',
  input: z.strictObject({ webhook_id: webhookId, delivery_id: deliveryId }),
  output: webhookDeliverySchema,
  errors: ['NOT_FOUND', 'INVALID_TRANSITION'],
  example: {
    input: { webhook_id: exampleWebhook.id, delivery_id: exampleDelivery.id },
    output: { ...exampleDelivery, attempts: 0 },
  },
  async run(work, { webhook_id, delivery_id }) {
    const delivery = await replayDelivery(work, work.actor.agent_id, webhook_id, delivery_id);
    work.changes.publish(webhookMessage(webhook_id));
    return presentWebhookDelivery(delivery);
  },
  rest: {
    method: 'POST',
    path: '/webhooks/{webhook_id}/deliveries/{delivery_id}/replay',
    status: 200,
    idempotency: 'accepted',
  },
});
