import { deleteWebhookOperation } from '../../../../operations/webhooks/delete-webhook.ts';
import { getWebhookOperation } from '../../../../operations/webhooks/get-webhook.ts';
import { replayWebhookDeliveriesOperation } from '../../../../operations/webhooks/replay-webhook-deliveries.ts';
import { replayWebhookDeliveryOperation } from '../../../../operations/webhooks/replay-webhook-delivery.ts';
import { rotateWebhookSecretOperation } from '../../../../operations/webhooks/rotate-webhook-secret.ts';
import { testWebhookOperation } from '../../../../operations/webhooks/test-webhook.ts';
import { updateWebhookOperation } from '../../../../operations/webhooks/update-webhook.ts';
import type { WebhookRecord } from '../../../../../packages/core/src/events/webhook-record.ts';
import { Badge, Card, Notice } from '../../components/content.tsx';
import { ButtonLink, PostButton } from '../../components/form.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time } from '../../components/rows.tsx';
import { redirectOrWarn } from '../../form-errors.ts';
import { createIdempotencyKey, readIdempotencyKey } from '../../idempotency-key.ts';
import { agentConfirmation, agentPage, type AgentVisit, AgentHeading } from '../agents/agent-page.tsx';
import { nameOf, toWebhookInput, webhookFields, disabledReasonText } from './fields.tsx';
import { stateBadge } from './list.tsx';
import { createWebhookOperation } from '../../../../operations/webhooks/create-webhook.ts';
import { signingSecretPage } from '../../components/secrets.tsx';

/** Creates a webhook. Only the response to the form shows the secret. */
export const webhookNewPage = agentPage({
  path: 'webhooks/new',
  title: 'New webhook',
  sections: ({ form }) => [
    form({
      title: 'New webhook',
      fields: webhookFields,
      button: 'Create webhook',
      cancel: ({ agentPath }) => agentPath('webhooks'),
      once: true,
      submit: async (visit, entered, { key }) =>
        webhookSecretPage(visit, await visit.call(createWebhookOperation, toWebhookInput(entered), key)),
    }),
  ],
});

/** The page with a new secret, which is shown only once. */
function webhookSecretPage(
  { agent, agentPath }: Pick<AgentVisit, 'agent' | 'agentPath'>,
  { id, url, secret }: { id: string; url: string; secret: string },
) {
  const heading = <AgentHeading agent={agent} />;
  return signingSecretPage(secret, { heading, title: new URL(url).host, next: agentPath(`webhooks/${id}`) });
}

/** A request to a page of a webhook. */
export interface OfWebhook {
  webhook: WebhookRecord;
}

/** Reads the webhook of a page. @throws {DomainError} WEBHOOK_NOT_FOUND */
export async function loadWebhook({ call, params }: AgentVisit): Promise<OfWebhook> {
  return { webhook: await call(getWebhookOperation, { webhook_id: params['webhook_id'] ?? '' }) };
}

/** One webhook: state and settings. */
export const webhookPage = agentPage({
  path: 'webhooks/:webhook_id',
  load: loadWebhook,
  title: ({ webhook }) => nameOf(webhook),
  sections: ({ form }) => [
    webhookStatus,
    form({
      title: 'Settings',
      fields: webhookFields,
      values: ({ webhook }) => ({ ...webhook, event_types: webhook.event_types ?? [] }),
      button: 'Save',
      async submit({ call, webhook }, entered) {
        await call(updateWebhookOperation, { webhook_id: webhook.id, ...toWebhookInput(entered) });
        return 'Webhook saved.';
      },
    }),
  ],
  changes: {
    async state({ call, webhook, form }) {
      const enabled = form.get('enabled') === 'true';
      await call(updateWebhookOperation, { webhook_id: webhook.id, enabled });
      return `Webhook ${enabled ? 'enabled' : 'disabled'}.`;
    },
    async test({ call, webhook, address }) {
      const { delivered, status, error } = await call(testWebhookOperation, { webhook_id: webhook.id });
      const text =
        status === null
          ? `The test event could not be delivered: ${error}.`
          : `The server answered the test event with ${status}: ${delivered ? 'delivered' : 'not delivered'}.`;
      return { to: address, [delivered ? 'flash' : 'warning']: text };
    },
    replay: (visit) => redirectOrWarn(`${visit.address}/deliveries`, () => replay(visit)),
    async rotate(visit) {
      const input = { webhook_id: visit.webhook.id };
      const key = readIdempotencyKey(visit.form);
      return webhookSecretPage(visit, await visit.call(rotateWebhookSecretOperation, input, key));
    },
  },
});

/** Sends one delivery again, or all failed ones. */
async function replay({ call, form: sent, webhook }: AgentVisit & OfWebhook): Promise<string> {
  const webhook_id = webhook.id;
  const delivery_id = sent.get('delivery_id');
  if (delivery_id !== null) {
    await call(replayWebhookDeliveryOperation, { webhook_id, delivery_id });
    return 'The event will be sent again.';
  }
  const { replayed, complete } = await call(replayWebhookDeliveriesOperation, { webhook_id, since: 0 });
  const text = replayed === 1 ? 'One event' : `${replayed} events`;
  return `${text} will be sent again.${complete ? '' : ' There are more: press the button again.'}`;
}

/** Removes a webhook. */
export const webhookRemovePage = agentConfirmation({
  path: 'webhooks/:webhook_id/remove',
  load: loadWebhook,
  title: ({ webhook }) => `Remove ${nameOf(webhook)}?`,
  text: () => <p>No more events are sent to it, including pending ones. This cannot be undone.</p>,
  button: 'Remove webhook',
  back: ({ agentPath, webhook }) => agentPath(`webhooks/${webhook.id}`),
  async change({ call, agentPath, webhook }) {
    await call(deleteWebhookOperation, { webhook_id: webhook.id });
    return { to: agentPath('webhooks'), flash: 'Webhook removed.' };
  },
});

/** State and actions of a webhook, and its pages. */
export function webhookStatus({ webhook, agentPath }: AgentVisit & OfWebhook) {
  const { id, url, enabled, disabled_reason, disabled_at, previous_secret_until } = webhook;
  const address = agentPath(`webhooks/${id}`);
  return (
    <>
      <Card title={nameOf(webhook)} action={<Badge of={stateBadge(webhook)} />}>
        <p class="code">{url}</p>
        {disabled_reason !== null && disabled_at !== null && (
          <Notice tone="danger" title="Disabled">
            {disabledReasonText[disabled_reason]} Since <Time at={disabled_at} />. After you enable it again,
            it gets new events. You can resend failed ones under Deliveries.
          </Notice>
        )}
        {previous_secret_until !== null && previous_secret_until > Date.now() && (
          <p>
            Requests are also signed with the previous secret until <Time at={previous_secret_until} />.
          </p>
        )}
        <div class="actions">
          <PostButton
            label={enabled ? 'Disable' : 'Enable'}
            action={`${address}/state`}
            hidden={{ enabled: String(!enabled) }}
            kind={enabled ? 'quiet' : 'primary'}
          />
          <PostButton label="Send test event" action={`${address}/test`} />
          <PostButton
            label="Rotate secret"
            action={`${address}/rotate`}
            hidden={{ idempotency_key: createIdempotencyKey() }}
            redirects={false}
          />
          <ButtonLink href={`${address}/remove`} kind="danger">
            Remove
          </ButtonLink>
        </div>
      </Card>
      <Tabs
        label="Pages of the webhook"
        tabs={[
          [address, 'Settings'],
          [`${address}/deliveries`, 'Deliveries'],
        ]}
      />
    </>
  );
}
