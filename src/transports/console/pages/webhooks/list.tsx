import { maxWebhooks } from '../../../../../packages/core/src/domain/webhooks.ts';
import { listWebhooksOperation } from '../../../../operations/webhooks/list-webhooks.ts';
import type { WebhookRecord } from '../../../../../packages/core/src/events/webhook-record.ts';
import { ButtonLink } from '../../components/form.tsx';
import { Time } from '../../components/rows.tsx';
import { agentPage } from '../agents/agent-page.tsx';
import { nameOf, eventText } from './fields.tsx';

/** The webhooks of an agent. */
export const webhooksPage = agentPage({
  path: 'webhooks',
  title: ({ agent }) => `Webhooks of ${agent.display_name}`,
  sections: ({ list }) => [
    list({
      title: 'Webhooks',
      read: async ({ call }) => (await call(listWebhooksOperation)).webhooks,
      empty: {
        title: 'No webhooks',
        text: 'Webhooks send the events of this agent to your server, even while the agent is offline.',
      },
      action: ({ address }, webhooks) =>
        webhooks.length < maxWebhooks && (
          <ButtonLink href={`${address}/new`} kind="primary">
            New webhook
          </ButtonLink>
        ),
      row: (webhook) => ({
        key: webhook.id,
        title: nameOf(webhook),
        lines: [
          [<span class="code">{webhook.url}</span>],
          [
            webhook.event_types?.map(eventText).join(' · ') ?? 'All events',
            webhook.only_when_offline && 'only while offline',
          ],
          [['Created ', <Time at={webhook.created_at} />]],
        ],
        badges: [stateBadge(webhook)],
        buttons: [{ label: 'Open', href: webhook.id, about: webhook.description || webhook.url }],
      }),
    }),
  ],
});

/** The badge of a webhook. */
export const stateBadge = ({ enabled }: Pick<WebhookRecord, 'enabled'>) =>
  enabled ? (['good', 'Enabled'] as const) : (['danger', 'Disabled'] as const);
