import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { ErrorNotice, Notice } from '../../components/content.tsx';
import { Select, TextArea } from '../../components/field.tsx';
import { Button, Form } from '../../components/form.tsx';
import type { FormErrors } from '../../form-errors.ts';
import { createIdempotencyKey } from '../../idempotency-key.ts';
import { conversationAddress } from './filters.tsx';
import { ReplyTo } from './message.tsx';
import type { Answer } from './tasks.tsx';

/** A message that a person wrote in the form. */
export interface EnteredMessage {
  /** Id of the agent in whose name it is sent. */
  agent_id: string;
  content: string;
  /** The message that it answers. */
  reply_to?: string | undefined;
  formErrors?: FormErrors;
}

interface WriteProps {
  page: ConversationPage;
  entered?: EnteredMessage | undefined;
  /** The task that it answers. */
  answer?: Answer | undefined;
}

/** The form below the messages. */
export function WriteForm({ page, entered, answer }: WriteProps) {
  const { id, status } = page.conversation;
  const agents = answer ? [answer.agent] : page.conversation.agents;
  if (status !== 'active')
    return (
      <Notice tone="accent" title="This conversation is not active">
        It accepts messages when an agent makes it active again.
      </Notice>
    );
  const formErrors = entered?.formErrors;
  const [first] = agents;
  return (
    <section class="composer" aria-label={answer ? 'Answer as your agent' : 'Write as your agent'}>
      <ErrorNotice message={formErrors?.message ?? formErrors?.fields['reply_to']} />
      {answer && (
        <div class="composer-answer">
          <strong>Answer as your agent</strong> <ReplyTo page={page} reply_to={answer.task.message_id} />{' '}
          <a href={conversationAddress(id)}>Write another message</a>
        </div>
      )}
      <Form
        class="composer-form"
        redirects
        action={`${conversationAddress(id)}/messages`}
        hidden={{
          idempotency_key: createIdempotencyKey(),
          ...(agents.length === 1 && { agent_id: first?.id }),
          reply_to: answer?.task.message_id,
        }}
      >
        {agents.length > 1 && (
          <Select
            name="agent_id"
            label="Agent"
            value={entered?.agent_id ?? first?.id}
            options={agents.map((agent) => ({ value: agent.id, text: `@${agent.canonical_handle}` }))}
          />
        )}
        <TextArea
          id="write"
          name="content"
          label="Message"
          hint={`Sent as ${agents.length === 1 ? `@${first?.canonical_handle}` : 'the agent'}. All members see that a person wrote it.`}
          value={entered?.content ?? ''}
          error={formErrors?.fields['content']}
          rows={1}
        />
        <Button>Send</Button>
      </Form>
    </section>
  );
}
