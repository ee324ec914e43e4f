import { createWebhookOperation } from '../../../../operations/webhooks/create-webhook.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { OneTimeSecrets } from '../../components/secrets.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { createIdempotencyKey, readIdempotencyKey } from '../../idempotency-key.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { type EnteredWebhook, readWebhookForm, WebhookFields, toWebhookInput } from './fields.tsx';

const path = '/console/agents/:id/webhooks/new';
const emptyForm: EnteredWebhook = { url: '', description: '', event_types: [], only_when_offline: false };

/** Creates a webhook. Only the response to the form shows the secret. */
export function webhookNewRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      return newWebhookPage(agent, emptyForm);
    }),
    action(path, async ({ params, person, form }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      const entered = readWebhookForm(form);
      return orShowFormAgain(
        async () => {
          const key = readIdempotencyKey(form);
          return webhookSecretPage(agent, await call(createWebhookOperation, toWebhookInput(entered), key));
        },
        (formErrors) => newWebhookPage(agent, entered, formErrors),
      );
    }),
  ];
}

function newWebhookPage(agent: AgentOfPerson, entered: EnteredWebhook, formErrors?: FormErrors): ShownPage {
  const list = agentAddress(agent, 'webhooks');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="New webhook">
        <ErrorNotice {...formErrors} />
        <Form action={`${list}/new`} hidden={{ idempotency_key: createIdempotencyKey() }}>
          <WebhookFields entered={entered} errors={formErrors?.fields ?? {}} />
          <Actions>
            <Button>Create webhook</Button>
            <ButtonLink href={list}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('New webhook', body, formErrors);
}

/** The page with a new secret, which is shown only once. */
export function webhookSecretPage(
  agent: AgentOfPerson,
  { id, url, secret }: { id: string; url: string; secret: string },
): ShownPage {
  const list = agentAddress(agent, 'webhooks');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title={new URL(url).host}>
        <OneTimeSecrets
          secrets={[{ label: 'Signing secret', value: secret }]}
          storageNote="We store it encrypted"
        />
        <p>
          Your server uses it to verify requests from this service, for example with a Standard Webhooks
          library. Each request has the headers <span class="code">webhook-id</span>,{' '}
          <span class="code">webhook-timestamp</span> and <span class="code">webhook-signature</span>.
        </p>
        <Actions>
          <ButtonLink href={`${list}/${id}`} kind="primary">
            Done
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Copy the secret', body, script: 'copy' };
}
