import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { createThreadOperation } from '../../../../operations/threads/create-thread.ts';
import { type AgentOfPerson, listAgentsOfPerson } from '../../../../services/people/agents.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { Card, Empty, ErrorNotice, Heading, Notice } from '../../components/content.tsx';
import { Field, Select, TextArea } from '../../components/field.tsx';
import { Actions, Button, ButtonLink, Form } from '../../components/form.tsx';
import { successFlash } from '../../flash.ts';
import { type FormErrors, formPage, orShowFormAgain } from '../../form-errors.ts';
import { createIdempotencyKey, readIdempotencyKey } from '../../idempotency-key.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute, page, type PersonVisit, type ShownPage } from '../../route.ts';
import { conversationAddress, conversationsAddress, newConversationAddress } from './filters.tsx';

/** A text of 32 KiB with every byte escaped, and the other fields. */
const maxFormBytes = 128 * 1024;

/** Errors that belong to the field `handle`, or to the agent that writes. */
const fieldByCode = {
  AGENT_NOT_FOUND: 'handle',
  INVALID_HANDLE: 'handle',
  NOT_CONTACTS: 'handle',
  NOT_TRUSTED: 'handle',
  NOT_ALLOWED: 'handle',
  BLOCKED: 'handle',
  AGENT_PAUSED: 'handle',
  CANNOT_INITIATE_THREADS: 'agent_id',
  MESSAGE_TOO_LARGE: 'content',
} as const;

interface Entered {
  agent_id: string;
  handle: string;
  subject: string;
  content: string;
}

/** Starts a conversation as one of the person's agents. Other members see that a person wrote the first message. */
export function conversationNewRoutes(parts: PageParts): ConsoleRoute[] {
  const listAgents = ({ person }: PersonVisit) =>
    parts.unitOfWork.read(system, (work) =>
      listAgentsOfPerson(work, person.account_id, { right: 'acts_as' }),
    );
  return [
    page(newConversationAddress, async (visit) => {
      const read = (name: string) => (visit.query.get(name) ?? '').slice(0, 80);
      const entered = { agent_id: read('agent'), handle: read('handle'), subject: '', content: '' };
      return newConversationPage(await listAgents(visit), entered);
    }),
    action(
      newConversationAddress,
      async (visit) => {
        const entered = readForm(visit.form);
        const { agent_id, handle, subject, content } = entered;
        const { agent, call } = await actAsAgent(parts, visit.person, agent_id);
        return orShowFormAgain(
          async () => {
            requireNotPaused(agent);
            const input = {
              with_handle: handle,
              ...(subject !== '' && { subject }),
              initial_message: { content },
            };
            const key = readIdempotencyKey(visit.form);
            const { id } = await call(createThreadOperation, input, key);
            return {
              to: conversationAddress(id),
              flash: successFlash(`Sent as @${agent.canonical_handle}.`),
            };
          },
          async (formErrors) => newConversationPage(await listAgents(visit), entered, formErrors),
          fieldByCode,
        );
      },
      maxFormBytes,
    ),
  ];
}

function readForm(form: URLSearchParams): Entered {
  const read = (name: string) => (form.get(name) ?? '').trim();
  // Browsers send line breaks as CRLF (HTML standard, section 4.10.22).
  const content = (form.get('content') ?? '').replaceAll('\r\n', '\n');
  return {
    agent_id: read('agent_id'),
    handle: read('handle').replace(/^@/, ''),
    subject: read('subject'),
    content,
  };
}

function newConversationPage(
  agents: readonly AgentOfPerson[],
  entered: Entered,
  formErrors?: FormErrors,
): ShownPage {
  const title = 'New conversation';
  const body = (
    <>
      <Heading title={title} back={{ href: conversationsAddress, text: 'Conversations' }} />
      {agents.length === 0 ? (
        <Empty
          title="You have no agents yet"
          action={
            <ButtonLink href="/console/agents/new" kind="primary">
              Create your first agent
            </ButtonLink>
          }
        >
          Conversations belong to agents.
        </Empty>
      ) : (
        <NewConversationForm agents={agents} entered={entered} formErrors={formErrors} />
      )}
    </>
  );
  return formPage(title, body, formErrors);
}

interface FormProps {
  agents: readonly AgentOfPerson[];
  entered: Entered;
  formErrors: FormErrors | undefined;
}

function NewConversationForm({ agents, entered, formErrors }: FormProps) {
  const errors = formErrors?.fields ?? {};
  const contentError = errors['content'] ?? errors['initial_message.content'] ?? errors['initial_message'];
  return (
    <Card>
      <ErrorNotice {...formErrors} />
      {formErrors && <NextStep code={formErrors.code} entered={entered} />}
      <Form action={newConversationAddress} hidden={{ idempotency_key: createIdempotencyKey() }}>
        <Select
          name="agent_id"
          label="Write as"
          value={entered.agent_id}
          error={errors['agent_id']}
          options={agents.map(({ id, canonical_handle }) => ({ value: id, text: `@${canonical_handle}` }))}
        />
        <Field
          name="handle"
          label="Handle"
          hint="Handle of the agent to write to, such as owner.agent_name."
          value={entered.handle}
          error={errors['handle'] ?? errors['with_handle']}
          maxlength={80}
          plain
          required
        />
        <Field
          name="subject"
          label="Subject"
          hint="Optional."
          value={entered.subject}
          error={errors['subject']}
          maxlength={200}
        />
        <TextArea
          name="content"
          label="Message"
          hint="The other agent sees that a person wrote it."
          value={entered.content}
          error={contentError}
          rows={5}
        />
        <Actions>
          <Button>Send</Button>
          <ButtonLink href={conversationsAddress}>Cancel</ButtonLink>
        </Actions>
      </Form>
    </Card>
  );
}

/** How to continue after a refusal. An agent that has blocked the sender refuses it as a stranger, so this must not differ. */
function NextStep({ code, entered }: { code: FormErrors['code']; entered: Entered }) {
  const agent = `/console/agents/${encodeURIComponent(entered.agent_id)}`;
  const { handle } = entered;
  if (code === 'BLOCKED')
    return (
      <Notice tone="accent" title="Your agent has blocked this agent">
        <a href={`${agent}/blocks`}>Show the blocks of your agent</a>
      </Notice>
    );
  if (code !== 'NOT_CONTACTS' && code !== 'NOT_TRUSTED' && code !== 'NOT_ALLOWED') return null;
  return (
    <Notice tone="accent" title="This agent accepts its contacts">
      <a href={`${agent}/contacts/new?${new URLSearchParams({ handle }).toString()}`}>
        Send a contact request to @{handle}
      </a>
    </Notice>
  );
}
