import { listFailingWebhooks } from '../../../../services/people/dashboard.ts';
import { Handle, Time } from '../../components/rows.tsx';
import { definePage } from '../../define/page.tsx';
import { disabledReasonText, nameOf } from './fields.tsx';

export const failingWebhooksPath = '/console/webhooks';

/** The failing webhooks of all agents that a person can act as. */
export const failingWebhooksPage = definePage({
  path: failingWebhooksPath,
  title: 'Failing webhooks',
  lead: 'Webhooks of all your agents that were disabled after failures, or whose deliveries are retried.',
  back: { href: '/console/agents', text: 'Agents' },
  sections: ({ list }) => [
    list({
      label: 'Failing webhooks',
      empty: {
        title: 'No failing webhooks',
        text: 'Webhooks whose server refuses events, or does not answer, are listed here.',
      },
      read: ({ read, person }) => read(listFailingWebhooks, person.account_id),
      row(webhook) {
        const { id, agent_id, agent_handle, url, disabled_at, disabled_reason, last_attempt_at } = webhook;
        const address = `/console/agents/${agent_id}/webhooks/${id}`;
        const name = nameOf(webhook);
        return {
          key: id,
          title: (
            <a href={address}>
              <bdi>{name}</bdi>
            </a>
          ),
          lines: [
            [<Handle of={agent_handle} />],
            [<span class="code">{url}</span>],
            disabled_at === null
              ? [
                  last_attempt_at !== null && ['Last attempt ', <Time at={last_attempt_at} />],
                  webhook.last_status !== null && `status ${webhook.last_status}`,
                  webhook.last_error,
                ]
              : [disabled_reason && disabledReasonText[disabled_reason], <Time at={disabled_at} />],
          ],
          badges: [disabled_at === null ? ['warning', 'Retrying'] : ['danger', 'Disabled']],
          buttons: [
            disabled_at === null
              ? { label: 'Deliveries', href: `${address}/deliveries`, about: `of ${name}` }
              : {
                  label: 'Enable',
                  action: `${address}/state`,
                  hidden: { return_to: failingWebhooksPath, enabled: 'true' },
                  about: name,
                },
          ],
        };
      },
    }),
  ],
});
