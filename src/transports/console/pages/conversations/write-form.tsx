import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { ErrorNotice } from '../../components/content.tsx';
import { Checkbox } from '../../components/choices.tsx';
import { Select, TextArea } from '../../components/field.tsx';
import { Button, Form } from '../../components/form.tsx';
import { Frame } from '../../define/page.tsx';
import type { FormErrors } from '../../form-errors.ts';
import { createIdempotencyKey } from '../../idempotency-key.ts';
import { AttachField, draftForm, FileList, ReplyButton } from './draft.tsx';
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
  /** The files that are uploaded. */
  uploads: string[];
  /** Whether the person wants to see how it will look. */
  isPreview?: boolean;
  formErrors?: FormErrors | undefined;
}

interface WriteProps {
  page: ConversationPage;
  entered?: EnteredMessage | undefined;
  /** The message that it answers; empty: none. */
  reply_to: string;
}

/** The form below the messages. Styles hide it while the conversation is not active, unless something is entered in it. */
export function WriteForm({ page, entered, reply_to }: WriteProps) {
  const { id, agents } = page.conversation;
  const isReply =
    findAnswer(page, reply_to) !== undefined || page.messages.some((message) => message.id === reply_to);
  const formErrors = entered?.formErrors;
  const [first] = agents;
  return (
    <section class="composer" aria-label={isReply ? 'Answer as your agent' : 'Write as your agent'}>
      <ErrorNotice
        message={
          formErrors && `Not sent. ${formErrors.message ?? formErrors.fields['reply_to'] ?? ''}`.trim()
        }
      />
      <Form
        id={draftForm}
        class="composer-form"
        redirects
        hasFiles
        action={`${conversationAddress(id)}/messages`}
        hidden={{ idempotency_key: createIdempotencyKey() }}
      >
        <Frame id="reply">{isReply && <ReplyLine page={page} reply_to={reply_to} />}</Frame>
        <TextArea
          id="write"
          name="content"
          label="Message"
          placeholder="Members see that a person wrote it."
          value={entered?.content ?? ''}
          error={formErrors?.fields['content']}
          rows={1}
        />
        <FileList uploads={entered?.uploads} error={formErrors?.fields['attachment_ids']} />
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
          {agents.length === 1 && (
            <p class="hint">
              As @{first?.canonical_handle}
              <input type="hidden" name="agent_id" value={first?.id} />
            </p>
          )}
          <Checkbox name="markdown" value="true" label="Markdown" checked={entered?.isMarkdown ?? false} />
          <button
            class="button quiet"
            formAction={`${conversationAddress(id)}/draft#write`}
            name="preview"
            value="true"
            data-turbo-frame="preview"
          >
            Preview
          </button>
          <AttachField />
          <Button>Send</Button>
        </div>
      </Form>
    </section>
  );
}

/** The message that is answered. An open task is answered as its agent. */
function ReplyLine({ page, reply_to }: Omit<WriteProps, 'entered'>) {
  const answer = findAnswer(page, reply_to);
  return (
    <div class="composer-answer">
      <ReplyTo page={page} reply_to={reply_to} />
      <ReplyButton class="link" thread_id={page.conversation.id} message_id="">
        No reply
      </ReplyButton>
      <input type="hidden" name="reply_to" value={reply_to} />
      {answer && <input type="hidden" name="agent_id" value={answer.agent.id} />}
    </div>
  );
}
