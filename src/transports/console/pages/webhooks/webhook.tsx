import { getWebhookOperation } from '../../../../operations/webhooks/get-webhook.ts';
import { listWebhookDeliveriesOperation } from '../../../../operations/webhooks/list-webhook-deliveries.ts';
import { updateWebhookOperation } from '../../../../operations/webhooks/update-webhook.ts';
import type { WebhookRecord } from '../../../../presenters/webhook.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { type ActingAgent, actAsAgent } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { Badge, Card, Notice, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { disabledReasonText } from './webhook-text.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { type EnteredWebhook, readWebhookForm, WebhookFields, toWebhookInput } from './fields.tsx';
import { readState, WebhookLog } from './deliveries.tsx';
import { createIdempotencyKey } from './new.tsx';

const path = '/console/agents/:id/webhooks/:webhook_id';

/** One webhook: whether it works, what it posts where, and what became of it. */
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
            flash: successFlash('The webhook is saved.'),
          };
        },
        (refusal) => webhookPage(acting, visit, { entered, refusal }),
      );
    }),
  ];
}

export function webhookAddress(agent: Pick<AgentOfPerson, 'id'>, webhook_id: string, below = ''): string {
  return agentAddress(agent, `webhooks/${encodeURIComponent(webhook_id)}${below && `/${below}`}`);
}

interface RefusedForm {
  entered: EnteredWebhook;
  refusal: FormRefusal;
}

async function webhookPage(
  { agent, call }: ActingAgent,
  { params, query }: PersonVisit,
  again?: RefusedForm,
): Promise<ShownPage> {
  const webhook = await call(getWebhookOperation, { webhook_id: params['webhook_id'] ?? '' });
  const [state, cursor] = [readState(query), query.get('cursor')];
  const log = await call(listWebhookDeliveriesOperation, {
    webhook_id: webhook.id,
    limit: 25,
    ...(state !== undefined && { state }),
    ...(cursor !== null && { cursor }),
  });
  const address = webhookAddress(agent, webhook.id);
  const body = (
    <>
      <AgentHeading agent={agent} current={agentAddress(agent, 'webhooks')} />
      <WebhookStatus webhook={webhook} address={address} />
      <WebhookLog {...log} webhook={webhook} state={state} address={address} />
      <Settings webhook={webhook} address={address} again={again} />
    </>
  );
  const title = webhook.description || new URL(webhook.url).host;
  return {
    title: again ? `Error: ${title}` : title,
    body,
    status: again?.refusal.status ?? 200,
    retry_after: again?.refusal.retry_after,
  };
}

interface PartProps {
  webhook: WebhookRecord;
  address: string;
}

/** Whether it works, and what can be done about that. */
function WebhookStatus({ webhook, address }: PartProps) {
  const { url, enabled, disabled_reason, disabled_at, previous_secret_until } = webhook;
  const badge = enabled ? <Badge tone="good">Enabled</Badge> : <Badge tone="danger">Disabled</Badge>;
  return (
    <Card title={webhook.description || new URL(url).host} action={badge}>
      <p class="code">{url}</p>
      {disabled_reason !== null && disabled_at !== null && (
        <Notice tone="danger" title="Nothing is posted">
          {disabledReasonText[disabled_reason]} <Time at={disabled_at} />. Enable it again to begin with what
          happens from then on; what failed can be posted once more below.
        </Notice>
      )}
      {previous_secret_until !== null && previous_secret_until > Date.now() && (
        <p>
          The secret before the last rotation signs until <Time at={previous_secret_until} />, too.
        </p>
      )}
      <div class="actions">
        <Form action={`${address}/state`} class="inline" hidden={{ enabled: String(!enabled) }}>
          <Button kind={enabled ? 'quiet' : 'primary'}>{enabled ? 'Disable' : 'Enable'}</Button>
        </Form>
        <Form action={`${address}/test`} class="inline">
          <Button kind="quiet">Send a test</Button>
        </Form>
        <Form action={`${address}/rotate`} class="inline" hidden={{ once: createIdempotencyKey() }}>
          <Button kind="quiet">New secret</Button>
        </Form>
        <ButtonLink href={`${address}/remove`} kind="danger">
          Remove
        </ButtonLink>
      </div>
    </Card>
  );
}

function Settings({ webhook, address, again }: PartProps & { again: RefusedForm | undefined }) {
  const entered = again?.entered ?? { ...webhook, event_types: webhook.event_types ?? [] };
  return (
    <Card title="What is posted where">
      <ErrorNotice {...again?.refusal} />
      <Form action={address}>
        <WebhookFields entered={entered} errors={again?.refusal.fields ?? {}} />
        <Actions>
          <Button>Save</Button>
        </Actions>
      </Form>
    </Card>
  );
}
