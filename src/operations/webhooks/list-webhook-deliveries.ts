import { z } from 'zod';
import { deliveryStates } from '../../../packages/core/src/domain/webhooks.ts';
import {
  presentWebhookDelivery,
  webhookDeliverySchema,
} from '../../../packages/core/src/events/webhook-record.ts';
import { listDeliveries } from '../../services/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { nextCursor, pageFields } from '../fields.ts';
import { exampleDelivery, exampleWebhook, webhookId } from './fields.ts';

export const listWebhookDeliveriesOperation = defineOperation({
  name: 'list_webhook_deliveries',
  summary: 'List the deliveries of a webhook from the last 30 days, newest first',
  scope: 'agents:read',
  kind: 'read',
  input: z.strictObject({
    webhook_id: webhookId,
    state: z.enum(deliveryStates).optional().describe('Only deliveries in this state.'),
    ...pageFields(100, 50),
  }),
  output: z.object({
    deliveries: z.array(webhookDeliverySchema).describe('Newest first.'),
    next_cursor: nextCursor,
  }),
  errors: ['NOT_FOUND'],
  example: {
    input: { webhook_id: exampleWebhook.id, state: 'pending', limit: 50 },
    output: { deliveries: [exampleDelivery] },
  },
  async run(work, { state, ...request }) {
    const { deliveries, next_cursor } = await listDeliveries(work, { ...request, state: state ?? null });
    return { deliveries: deliveries.map(presentWebhookDelivery), next_cursor };
  },
  rest: { method: 'GET', path: '/webhooks/{webhook_id}/deliveries', status: 200 },
});
