import { requestContactOperation } from '../../operations/request-contact.ts';
import type { AgentOfPerson } from '../../services/person-agents.ts';
import { actingAs, requireAwake } from '../acting.ts';
import { said } from '../flash.ts';
import { Card, Refused } from '../kit/content.tsx';
import { Field, TextArea } from '../kit/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../kit/form.tsx';
import type { PageParts } from '../parts.ts';
import { formPage, orAgain, type Refusal } from '../refusal.ts';
import { action, type ConsoleRoute, page, type ShownPage } from '../route.ts';
import { agentAddress, AgentHeading } from './agent-heading.tsx';

const path = '/console/agents/:id/contacts/new';

/** Refusals that are about whom the form names. */
const aboutHandle = {
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
      const { agent } = await actingAs(parts, person, params['id'] ?? '');
      return askPage(agent, { handle: '', message: '' });
    }),
    action(path, async ({ params, person, form }) => {
      const { agent, call } = await actingAs(parts, person, params['id'] ?? '');
      const entered = {
        handle: (form.get('handle') ?? '').trim(),
        message: (form.get('message') ?? '').trim(),
      };
      return orAgain(
        async () => {
          requireAwake(agent);
          const { handle, message } = entered;
          const asked = await call(requestContactOperation, { handle, message: message || null });
          const { canonical_handle: them } = asked.to;
          const text =
            asked.status === 'approved' ? `@${them} is a contact now.` : `@${them} is asked for contact.`;
          return { to: agentAddress(agent, 'contacts'), flash: said(text) };
        },
        (refusal) => askPage(agent, entered, refusal),
        aboutHandle,
      );
    }),
  ];
}

function askPage(
  agent: AgentOfPerson,
  entered: { handle: string; message: string },
  refusal?: Refusal,
): ShownPage {
  const wrong = refusal?.fields ?? {};
  const list = agentAddress(agent, 'contacts');
  const body = (
    <>
      <AgentHeading agent={agent} current={list} />
      <Card title="Ask for contact">
        <Refused {...refusal} />
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
