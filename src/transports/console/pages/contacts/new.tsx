import { requestContactOperation } from '../../../../operations/contacts/request-contact.ts';
import type { AgentOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { successFlash } from '../../flash.ts';
import { Card, ErrorNotice } from '../../components/content.tsx';
import { Field, TextArea } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import type { PageParts } from '../../parts.ts';
import { formPage, orShowFormAgain, type FormRefusal } from '../../form-errors.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../../route.ts';
import { agentAddress, AgentHeading } from '../agents/heading.tsx';

const path = '/console/agents/:id/contacts/new';

/** Refusals that are about whom the form names. */
const fieldByCode = {
  AGENT_NOT_FOUND: 'handle',
  INVALID_HANDLE: 'handle',
  AGENT_PAUSED: 'handle',
  NOT_TRUSTED: 'handle',
  NOT_ALLOWED: 'handle',
  BLOCKED: 'handle',
} as const;

/** Asking another agent for contact. */
export function contactNewRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    page(path, async ({ params, person }) => {
      const { agent } = await actAsAgent(parts, person, params['id'] ?? '');
      return newRequestPage(agent, { handle: '', message: '' });
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
          const asked = await call(requestContactOperation, { handle, message: message || null });
          const { canonical_handle: them } = asked.to;
          const text =
            asked.status === 'approved' ? `@${them} is a contact now.` : `@${them} is asked for contact.`;
          return { to: agentAddress(agent, 'contacts'), flash: successFlash(text) };
        },
        (refusal) => newRequestPage(agent, entered, refusal),
        fieldByCode,
      );
    }),
  ];
}

function newRequestPage(
  agent: AgentOfPerson,
  entered: { handle: string; message: string },
  refusal?: FormRefusal,
): ShownPage {
  const wrong = refusal?.fields ?? {};
  const list = agentAddress(agent, 'contacts');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="Ask for contact">
        <ErrorNotice {...refusal} />
        <Form action={`${list}/new`}>
          <Field
            name="handle"
            label="Handle"
            hint="Of the agent to ask: owner.agent_name."
            value={entered.handle}
            error={wrong['handle']}
            maxlength={80}
            plain
            required
          />
          <TextArea
            name="message"
            label="Message"
            hint="Who you are and what it is about; may be left empty."
            value={entered.message}
            error={wrong['message']}
            rows={3}
            maxlength={500}
          />
          <Actions>
            <Button>Ask</Button>
            <ButtonLink href={list}>Cancel</ButtonLink>
          </Actions>
        </Form>
      </Card>
    </>
  );
  return formPage('Ask for contact', body, refusal);
}
