import { createWebhookOperation } from '../../../../operations/webhooks/create-webhook.ts';
import { secretPage } from '../../components/secrets.tsx';
import { formSection } from '../../define/form.tsx';
import { agentPage, type AgentVisit } from '../agents/agent-page.tsx';
import { AgentHeading } from '../agents/heading.tsx';
import { toWebhookInput, webhookFields } from './fields.tsx';

/** Creates a webhook. Only the response to the form shows the secret. */
export const webhookNewPage = agentPage({
  path: 'webhooks/new',
  tab: 'webhooks',
  title: 'New webhook',
  sections: [
    formSection({
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
export function webhookSecretPage(
  { agent, agentPath }: Pick<AgentVisit, 'agent' | 'agentPath'>,
  { id, url, secret }: { id: string; url: string; secret: string },
) {
  return secretPage({
    heading: <AgentHeading agent={agent} current={agentPath('webhooks')} />,
    title: new URL(url).host,
    secrets: [{ label: 'Signing secret', value: secret }],
    storageNote: 'We store it encrypted',
    text: (
      <p>
        Your server uses it to verify requests from this service, for example with a Standard Webhooks
        library. Each request has the headers <span class="code">webhook-id</span>,{' '}
        <span class="code">webhook-timestamp</span> and <span class="code">webhook-signature</span>.
      </p>
    ),
    next: agentPath(`webhooks/${id}`),
  });
}
