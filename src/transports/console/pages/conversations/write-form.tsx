import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { ErrorNotice, Notice } from '../../components/content.tsx';
import { Checkbox } from '../../components/choices.tsx';
import { Select, TextArea } from '../../components/field.tsx';
import { Button, Form } from '../../components/form.tsx';
import { Frame } from '../../define/page.tsx';
import type { FormErrors } from '../../form-errors.ts';
import { createIdempotencyKey } from '../../idempotency-key.ts';
import { conversationAddress } from './filters.tsx';
import { MessageBody, ReplyTo } from './message.tsx';
import { findAnswer } from './tasks.tsx';

/** A message that a person wrote in the form. */
export interface EnteredMessage {
  /** Id of the agent in whose name it is sent. */
  agent_id: string;
  content: string;
  /** The message that it answers. */
  reply_to?: string | undefined;
  isMarkdown?: boolean;
  /** Whether the person wants to see how it will look. */
  isPreview?: boolean;
  formErrors?: FormErrors;
}

interface WriteProps {
  page: ConversationPage;
  entered?: EnteredMessage | undefined;
  /** The message that it answers; empty: none. */
  reply_to: string;
}

/** The form below the messages. */
export function WriteForm({ page, entered, reply_to }: WriteProps) {
  const { id, status } = page.conversation;
  const answer = findAnswer(page, reply_to);
  const isReply = answer !== undefined || page.messages.some((message) => message.id === reply_to);
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
    <section class="composer" aria-label={isReply ? 'Answer as your agent' : 'Write as your agent'}>
      <ErrorNotice message={formErrors?.message ?? formErrors?.fields['reply_to']} />
      {isReply && (
        <div class="composer-answer">
          <ReplyTo page={page} reply_to={reply_to} />
          <a href={`${conversationAddress(id)}#write`}>No reply</a>
        </div>
      )}
      <Form
        class="composer-form"
        redirects
        action={`${conversationAddress(id)}/messages`}
        hidden={{
          idempotency_key: createIdempotencyKey(),
          ...(agents.length === 1 && { agent_id: first?.id }),
          reply_to: isReply ? reply_to : undefined,
        }}
      >
        <TextArea
          id="write"
          name="content"
          label="Message"
          placeholder="Members see that a person wrote it."
          value={entered?.content ?? ''}
          error={formErrors?.fields['content']}
          rows={1}
        />
        <Frame id="preview">
          {entered?.isPreview && (
            <section class="preview-box" aria-label="Preview" tabIndex={0}>
              <MessageBody content={entered.content} isMarkdown={entered.isMarkdown ?? false} />
            </section>
          )}
        </Frame>
        <div class="composer-bar">
          {agents.length > 1 && (
            <Select
              name="agent_id"
              label="Agent"
              value={entered?.agent_id ?? first?.id}
              options={agents.map((agent) => ({ value: agent.id, text: `@${agent.canonical_handle}` }))}
            />
          )}
          {agents.length === 1 && <p class="hint">As @{first?.canonical_handle}</p>}
          <Checkbox name="markdown" value="true" label="Markdown" checked={entered?.isMarkdown ?? false} />
          <button
            class="button quiet"
            formAction={`${conversationAddress(id)}/preview`}
            data-turbo-frame="preview"
          >
            Preview
          </button>
          <Button>Send</Button>
        </div>
      </Form>
    </section>
  );
}
