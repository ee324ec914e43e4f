import { randomBytes } from 'node:crypto';
import { createWebhookOperation } from '../../../../operations/webhooks/create-webhook.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { OneTimeSecrets } from '../../components/secrets.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';
import { type EnteredWebhook, readWebhookForm, WebhookFields, toWebhookInput } from './fields.tsx';

const path = '/console/agents/:id/webhooks/new';
const emptyForm: EnteredWebhook = { url: '', description: '', event_types: [], only_when_offline: false };

/** Making a webhook. The answer to the form is the page with the secret: no other page ever shows it. */
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
          const once = readIdempotencyKey(form);
          return webhookSecretPage(agent, await call(createWebhookOperation, toWebhookInput(entered), once));
        },
        (refusal) => newWebhookPage(agent, entered, refusal),
      );
    }),
  ];
}

/** Tells one form from the next, so that one that is sent twice is done once. */
export function createIdempotencyKey(): string {
  return randomBytes(16).toString('base64url');
}

/** The token of a form of ours; a form that brings something else is one of its own. */
export function readIdempotencyKey(form: URLSearchParams): string {
  const given = form.get('once') ?? '';
  return /^[\w-]{22}$/.test(given) ? given : createIdempotencyKey();
}

function newWebhookPage(agent: AgentOfPerson, entered: EnteredWebhook, refusal?: FormRefusal): ShownPage {
  const list = agentAddress(agent, 'webhooks');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="New webhook">
        <ErrorNotice {...refusal} />
        <Form action={`${list}/new`} hidden={{ once: createIdempotencyKey() }}>
          <WebhookFields entered={entered} errors={refusal?.fields ?? {}} />
          <Actions>
            <Button>Create the webhook</Button>
            <ButtonLink href={list}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('New webhook', body, refusal);
}

/** A new secret, this once. */
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
          storageNote="We keep it encrypted"
        />
        <p>
          Your server checks with it that a post is from here. Give it to a library of Standard Webhooks; each
          post carries the headers <span class="code">webhook-id</span>,{' '}
          <span class="code">webhook-timestamp</span> and <span class="code">webhook-signature</span>.
        </p>
        <Actions>
          <ButtonLink href={`${list}/${id}`} kind="primary">
            I have copied it
          </ButtonLink>
        </Actions>
      </Card>
    </>
  );
  return { title: 'Copy the secret', body };
}
