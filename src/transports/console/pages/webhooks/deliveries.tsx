import { deliveryStates } from '../../../../../packages/core/src/domain/webhooks.ts';
import { listWebhookDeliveriesOperation } from '../../../../operations/webhooks/list-webhook-deliveries.ts';
import { PostButton } from '../../components/form.tsx';
import { pageInput } from '../../define/list.tsx';
import { agentPage, type AgentVisit } from '../agents/agent-page.tsx';
import { deliveryBadges, describeDelivery, nameOf } from './fields.tsx';
import { loadWebhook, webhookStatus } from './webhook.tsx';

/** The delivery state in a query, if it is valid. */
const stateOf = ({ query }: AgentVisit) => deliveryStates.find((state) => state === query.get('state'));

/** The deliveries of a webhook with replay buttons. */
export const webhookDeliveriesPage = agentPage({
  path: 'webhooks/:webhook_id/deliveries',
  load: loadWebhook,
  title: ({ webhook }) => `Deliveries to ${nameOf(webhook)}`,
  sections: ({ list }) => [
    webhookStatus,
    list({
      title(visit) {
        const state = stateOf(visit);
        return state === undefined ? 'Deliveries' : `Deliveries: ${deliveryBadges[state][1]}`;
      },
      label: 'Deliveries',
      noun: 'deliveries',
      empty: 'No deliveries. They are kept for 30 days.',
      action: (visit) =>
        stateOf(visit) === undefined ? (
          <a href={`${visit.address}?state=failed`}>Failed only</a>
        ) : (
          <a href={visit.address}>All deliveries</a>
        ),
      async read(visit) {
        const state = stateOf(visit);
        const filter = state && { state };
        const input = { webhook_id: visit.webhook.id, ...pageInput(visit.query, 25), ...filter };
        const { deliveries, next_cursor } = await visit.call(listWebhookDeliveriesOperation, input);
        return { items: deliveries, next: { ...filter, cursor: next_cursor } };
      },
      row: (delivery, { webhook, agentPath }) => ({
        key: delivery.id,
        title: delivery.event_type,
        lines: [
          [<span class="code">{delivery.id}</span>],
          describeDelivery({ ...delivery, at: delivery.created_at }),
        ],
        text: delivery.last_response ? (
          <details>
            <summary>Response</summary>
            <pre>{delivery.last_response}</pre>
          </details>
        ) : undefined,
        badges: [deliveryBadges[delivery.state]],
        buttons: [
          webhook.enabled &&
            delivery.state !== 'pending' && {
              label: 'Resend',
              action: agentPath(`webhooks/${webhook.id}/replay`),
              hidden: { delivery_id: delivery.id },
              about: delivery.id,
            },
        ],
      }),
      below: (visit, deliveries) =>
        visit.webhook.enabled &&
        stateOf(visit) === 'failed' &&
        deliveries.length > 0 && (
          <PostButton
            label="Resend all"
            action={visit.agentPath(`webhooks/${visit.webhook.id}/replay`)}
            kind="primary"
          />
        ),
    }),
  ],
});
