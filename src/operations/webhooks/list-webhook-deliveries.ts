import { z } from 'zod';
import { listWebhookDeliveriesInput } from '../../../packages/core/src/inputs/webhooks.ts';
import {
  presentWebhookDelivery,
  webhookDeliverySchema,
} from '../../../packages/core/src/events/webhook-record.ts';
import { listDeliveries } from '../../services/webhooks/deliveries.ts';
import { defineOperation } from '../define.ts';
import { pageOf } from '../page-of.ts';
import { exampleDelivery, exampleWebhook } from './fields.ts';

export const listWebhookDeliveriesOperation = defineOperation({
  name: 'list_webhook_deliveries',
  summary: 'List the deliveries of a webhook from the last 30 days, newest first',
  scope: 'agents:read',
  kind: 'read',
  input: listWebhookDeliveriesInput,
  ...pageOf(
    'deliveries',
    z.array(webhookDeliverySchema).describe('Newest first.'),
    listDeliveries,
    presentWebhookDelivery,
  ),
  errors: ['NOT_FOUND'],
  example: {
    input: { webhook_id: exampleWebhook.id, state: 'pending', limit: 50 },
    output: { deliveries: [exampleDelivery] },
  },
  rest: { method: 'GET', path: '/webhooks/{webhook_id}/deliveries', status: 200 },
});
