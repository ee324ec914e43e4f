import { getWebhookOperation } from '../../../../operations/webhooks/get-webhook.ts';
import { updateWebhookOperation } from '../../../../operations/webhooks/update-webhook.ts';
import type { WebhookRecord } from '../../../../../packages/core/src/events/webhook-record.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { type ActingAgent, actAsAgent } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { Badge, Card, Notice, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { Tabs } from '../../components/tabs.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { disabledReasonText } from './webhook-text.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { type EnteredWebhook, readWebhookForm, WebhookFields, toWebhookInput } from './fields.tsx';
import { createIdempotencyKey } from '../../idempotency-key.ts';

const path = '/console/agents/:id/webhooks/:webhook_id';

/** One webhook: state and settings. */
export function webhookRoutes(parts: PageParts): ConsoleRoute[] {
  const actingIn = ({ params, person }: PersonVisit) => actAsAgent(parts, person, params['id'] ?? '');

  return [
    page(path, async (visit) => webhookPage(await actingIn(visit), visit)),
    action(path, async (visit) => {
      const acting = await actingIn(visit);
      const webhook_id = visit.params['webhook_id'] ?? '';
      const entered = readWebhookForm(visit.form);
      return orShowFormAgain(
        async () => {
          await acting.call(updateWebhookOperation, { webhook_id, ...toWebhookInput(entered) });
          return {
            to: webhookAddress(acting.agent, webhook_id),
            flash: successFlash('Webhook saved.'),
          };
        },
        (formErrors) => webhookPage(acting, visit, { entered, formErrors }),
      );
    }),
  ];
}

/** The path of a webhook's page. */
export function webhookAddress(agent: Pick<AgentOfPerson, 'id'>, webhook_id: string, subpage = ''): string {
  return agentAddress(agent, `webhooks/${encodeURIComponent(webhook_id)}${subpage && `/${subpage}`}`);
}

interface RejectedForm {
  entered: EnteredWebhook;
  formErrors: FormErrors;
}

async function webhookPage(
  { agent, call }: ActingAgent,
  { params }: PersonVisit,
  submitted?: RejectedForm,
): Promise<ShownPage> {
  const webhook = await call(getWebhookOperation, { webhook_id: params['webhook_id'] ?? '' });
  const address = webhookAddress(agent, webhook.id);
  const body = (
    <>
      <AgentHeading agent={agent} current={agentAddress(agent, 'webhooks')} />
      <WebhookStatus webhook={webhook} address={address} />
      <WebhookTabs address={address} />
      <Settings webhook={webhook} address={address} submitted={submitted} />
    </>
  );
  const title = webhook.description || new URL(webhook.url).host;
  return {
    title: submitted ? `Error: ${title}` : title,
    body,
    status: submitted?.formErrors.status ?? 200,
    retry_after: submitted?.formErrors.retry_after,
  };
}

/** The pages of a webhook. */
export function WebhookTabs({ address }: { address: string }) {
  const tabs = [
    [address, 'Settings'],
    [`${address}/deliveries`, 'Deliveries'],
  ] as const;
  return <Tabs label="Pages of the webhook" tabs={tabs} />;
}

interface PartProps {
  webhook: WebhookRecord;
  address: string;
}

/** State and actions of a webhook. */
export function WebhookStatus({ webhook, address }: PartProps) {
  const { url, enabled, disabled_reason, disabled_at, previous_secret_until } = webhook;
  const badge = enabled ? <Badge tone="good">Enabled</Badge> : <Badge tone="danger">Disabled</Badge>;
  return (
    <Card title={webhook.description || new URL(url).host} action={badge}>
      <p class="code">{url}</p>
      {disabled_reason !== null && disabled_at !== null && (
        <Notice tone="danger" title="Disabled">
          {disabledReasonText[disabled_reason]} Since <Time at={disabled_at} />. After you enable it again, it
          gets new events. You can resend failed ones under Deliveries.
        </Notice>
      )}
      {previous_secret_until !== null && previous_secret_until > Date.now() && (
        <p>
          Requests are also signed with the previous secret until <Time at={previous_secret_until} />.
        </p>
      )}
      <div class="actions">
        <Form action={`${address}/state`} class="inline" hidden={{ enabled: String(!enabled) }}>
          <Button kind={enabled ? 'quiet' : 'primary'}>{enabled ? 'Disable' : 'Enable'}</Button>
        </Form>
        <Form action={`${address}/test`} class="inline">
          <Button kind="quiet">Send test event</Button>
        </Form>
        <Form
          action={`${address}/rotate`}
          class="inline"
          hidden={{ idempotency_key: createIdempotencyKey() }}
        >
          <Button kind="quiet">Rotate secret</Button>
        </Form>
        <ButtonLink href={`${address}/remove`} kind="danger">
          Remove
        </ButtonLink>
      </div>
    </Card>
  );
}

function Settings({ webhook, address, submitted }: PartProps & { submitted: RejectedForm | undefined }) {
  const entered = submitted?.entered ?? { ...webhook, event_types: webhook.event_types ?? [] };
  return (
    <Card title="Settings">
      <ErrorNotice {...submitted?.formErrors} />
      <Form action={address}>
        <WebhookFields entered={entered} errors={submitted?.formErrors.fields ?? {}} />
        <Actions>
          <Button>Save</Button>
        </Actions>
      </Form>
    </Card>
  );
}
