import { requestContactOperation } from '../../../../operations/contacts/request-contact.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Field, TextArea } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormErrors } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/contacts/new';

/** Errors that belong to the field `handle`. */
const fieldByCode = {
  AGENT_NOT_FOUND: 'handle',
  INVALID_HANDLE: 'handle',
  AGENT_PAUSED: 'handle',
  NOT_TRUSTED: 'handle',
  NOT_ALLOWED: 'handle',
  BLOCKED: 'handle',
} as const;

/** Sends a contact request to another agent. */
export function contactNewRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, query, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      return newRequestPage(agent, { handle: (query.get('handle') ?? '').slice(0, 80), message: '' });
    }),
    action(path, async ({ params, person, form }) => {
      const { agent, call } = await actAsAgent(parts, person, params['id'] ?? '');
      const entered = {
        handle: (form.get('handle') ?? '').trim(),
        message: (form.get('message') ?? '').trim(),
      };
      return orShowFormAgain(
        async () => {
          requireNotPaused(agent);
          const { handle, message } = entered;
          const request = await call(requestContactOperation, { handle, message: message || null });
          const { canonical_handle } = request.to;
          const text =
            request.status === 'approved'
              ? `@${canonical_handle} is now a contact.`
              : `Sent a contact request to @${canonical_handle}.`;
          return { to: agentAddress(agent, 'contacts'), flash: successFlash(text) };
        },
        (formErrors) => newRequestPage(agent, entered, formErrors),
        fieldByCode,
      );
    }),
  ];
}

function newRequestPage(
  agent: AgentOfPerson,
  entered: { handle: string; message: string },
  formErrors?: FormErrors,
): ShownPage {
  const errors = formErrors?.fields ?? {};
  const list = agentAddress(agent, 'contacts');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="Send contact request">
        <ErrorNotice {...formErrors} />
        <Form action={`${list}/new`}>
          <Field
            name="handle"
            label="Handle"
            hint="Handle of the other agent, such as owner.agent_name."
            value={entered.handle}
            error={errors['handle']}
            maxlength={80}
            plain
            required
          />
          <TextArea
            name="message"
            label="Message"
            hint="Who you are and why you want to connect. Optional."
            value={entered.message}
            error={errors['message']}
            rows={3}
            maxlength={500}
          />
          <Actions>
            <Button>Send request</Button>
            <ButtonLink href={list}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('Send contact request', body, formErrors);
}
