import { type DeliveryState, deliveryStates } from '../../../../../packages/core/src/domain/webhooks.ts';
import { getWebhookOperation } from '../../../../operations/webhooks/get-webhook.ts';
import { listWebhookDeliveriesOperation } from '../../../../operations/webhooks/list-webhook-deliveries.ts';
import type {
  WebhookDeliveryRecord,
  WebhookRecord,
} from '../../../../../packages/core/src/events/webhook-record.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Badge, Card } from '../../components/content.tsx';
import { Button, Form } from '../../components/form.tsx';
import { Rows } from '../../components/rows.tsx';
import { NextPage } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { webhookAddress, WebhookStatus, WebhookTabs } from './webhook.tsx';
import { deliveryStateLabels } from './webhook-text.ts';

/** The deliveries of a webhook, on a page of their own. */
export function webhookLogRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page('/console/agents/:id/webhooks/:webhook_id/deliveries', async ({ params, query, person }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      const webhook = await call(getWebhookOperation, { webhook_id: params['webhook_id'] ?? '' });
      const [state, cursor] = [readState(query), query.get('cursor')];
      const log = await call(listWebhookDeliveriesOperation, {
        webhook_id: webhook.id,
        limit: pageSize,
        ...(state !== undefined && { state }),
        ...(cursor !== null && { cursor }),
      });
      const address = webhookAddress(agent, webhook.id);
      const body = (
        <>
          <AgentHeading agent={agent} current={agentAddress(agent, 'webhooks')} />
          <WebhookStatus webhook={webhook} address={address} />
          <WebhookTabs address={address} />
          <WebhookLog {...log} webhook={webhook} state={state} address={address} />
        </>
      );
      return { title: `Deliveries to ${webhook.description || new URL(webhook.url).host}`, body };
    }),
  ];
}

/** The delivery state in a query, if it is valid. */
function readState(query: URLSearchParams): DeliveryState | undefined {
  return deliveryStates.find((state) => state === query.get('state'));
}

const pageSize = 25;

interface WebhookLogProps {
  webhook: WebhookRecord;
  address: string;
  state: DeliveryState | undefined;
  deliveries: readonly WebhookDeliveryRecord[];
  next_cursor?: string | undefined;
}

/** The delivery log of a webhook with replay buttons. */
function WebhookLog({ webhook, address, state, deliveries, next_cursor }: WebhookLogProps) {
  const log = `${address}/deliveries`;
  const next = { ...(state !== undefined && { state }), cursor: next_cursor };
  return (
    <Card
      title={state === undefined ? 'Deliveries' : `Deliveries: ${deliveryStateLabels[state].text}`}
      action={
        state === undefined ? (
          <a href={`${log}?state=failed`}>Failed only</a>
        ) : (
          <a href={log}>All deliveries</a>
        )
      }
    >
      {deliveries.length === 0 ? (
        <p>No deliveries. They are kept for 30 days.</p>
      ) : (
        <Rows
          label="Deliveries"
          rows={deliveries.map((delivery) => deliveryRow(webhook, address, delivery))}
        />
      )}
      <NextPage path={log} next={next} noun="deliveries" />
      {webhook.enabled && state === 'failed' && deliveries.length > 0 && (
        <Form action={`${address}/replay`} class="inline">
          <Button>Resend all</Button>
        </Form>
      )}
    </Card>
  );
}

function deliveryRow({ enabled }: WebhookRecord, address: string, delivery: WebhookDeliveryRecord) {
  const {
    id,
    event_type,
    state,
    attempts,
    next_at,
    last_status,
    last_error,
    last_duration_ms,
    last_response,
    created_at,
  } = delivery;
  const { tone, text } = deliveryStateLabels[state];
  return {
    key: id,
    title: event_type,
    text: (
      <>
        <span class="code">{id}</span>
        <br />
        <Time at={created_at} /> · {attempts === 1 ? '1 attempt' : `${attempts} attempts`}
        {last_status !== null && ` · status ${last_status}`}
        {last_error !== null && ` · ${last_error}`}
        {last_duration_ms !== null && ` · ${last_duration_ms} ms`}
        {next_at !== null && (
          <>
            {' '}
            · next <Time at={next_at} />
          </>
        )}
        {last_response !== null && last_response !== '' && (
          <details>
            <summary>Response</summary>
            <pre>{last_response}</pre>
          </details>
        )}
      </>
    ),
    side: (
      <>
        <Badge tone={tone}>{text}</Badge>
        {enabled && state !== 'pending' && (
          <Form action={`${address}/replay`} class="inline" hidden={{ delivery_id: id }}>
            <Button kind="quiet">
              Resend<span class="visually-hidden"> {id}</span>
            </Button>
          </Form>
        )}
      </>
    ),
  };
}
