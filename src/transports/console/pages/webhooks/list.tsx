import { maxWebhooks } from '../../../../../packages/core/src/domain/webhooks.ts';
import { listWebhooksOperation } from '../../../../operations/webhooks/list-webhooks.ts';
import type { WebhookRecord } from '../../../../../packages/core/src/events/webhook-record.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Badge, Card, Empty } from '../../components/content.tsx';
import { ButtonLink } from '../../components/form.tsx';
import { Icon } from '../../components/icon.tsx';
import { Rows } from '../../components/rows.tsx';
import { Time } from '../../components/time.tsx';
import type { PageParts } from '../../parts.ts';
import { type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { eventText } from './webhook-text.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

/** The webhooks of an agent. */
export function webhookListRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page('/console/agents/:id/webhooks', async ({ params, person }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      return webhooksPage(agent, (await call(listWebhooksOperation)).webhooks);
    }),
  ];
}

function webhooksPage(agent: AgentOfPerson, webhooks: readonly WebhookRecord[]): ShownPage {
  const address = agentAddress(agent, 'webhooks');
  const create = (
    <ButtonLink href={`${address}/new`} kind="primary">
      New webhook
    </ButtonLink>
  );
  const body = (
    <>
      <AgentHeading agent={agent} />
      {webhooks.length === 0 ? (
        <Empty title="No webhooks" action={create}>
          Webhooks send the events of this agent to your server, even while the agent is offline.
        </Empty>
      ) : (
        <Card title="Webhooks" action={webhooks.length < maxWebhooks && create}>
          <Rows label="Webhooks" rows={webhooks.map((webhook) => webhookRow(address, webhook))} />
        </Card>
      )}
    </>
  );
  return { title: `Webhooks of ${agent.display_name}`, body };
}

function webhookRow(address: string, webhook: WebhookRecord) {
  const { id, url, description, event_types, only_when_offline, enabled, created_at } = webhook;
  return {
    key: id,
    mark: <Icon name="globe" />,
    title: description || new URL(url).host,
    text: (
      <>
        <span class="code">{url}</span>
        <br />
        {event_types === null ? 'All events' : event_types.map(eventText).join(' · ')}
        {only_when_offline && ' · only while offline'}
        <br />
        Created <Time at={created_at} />
      </>
    ),
    side: (
      <>
        {enabled ? <Badge tone="good">Enabled</Badge> : <Badge tone="danger">Disabled</Badge>}
        <ButtonLink href={`${address}/${id}`}>
          Open<span class="visually-hidden"> {description || url}</span>
        </ButtonLink>
      </>
    ),
  };
}
