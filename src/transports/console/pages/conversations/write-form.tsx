import type { Conversation } from '../../../../services/threads/conversations.ts';
import { Card, ErrorNotice, Notice } from '../../components/content.tsx';
import { Select, TextArea } from '../../components/field.tsx';
import { Actions, Button, Form } from '../../components/form.tsx';
import type { FormErrors } from '../../form-errors.ts';
import { createIdempotencyKey } from '../../idempotency-key.ts';
import { conversationAddress } from './filters.tsx';

/** A message that a person wrote in the form. */
export interface EnteredMessage {
  /** Id of the agent in whose name it is sent. */
  agent_id: string;
  content: string;
  formErrors?: FormErrors;
}

interface WriteProps {
  conversation: Conversation;
  entered?: EnteredMessage | undefined;
}

/** The form below the messages. */
export function WriteForm({ conversation, entered }: WriteProps) {
  const { id, status, agents } = conversation;
  if (status !== 'active')
    return (
      <Notice tone="accent" title="This conversation is not active">
        It accepts messages when an agent makes it active again.
      </Notice>
    );
  const formErrors = entered?.formErrors;
  const [first] = agents;
  return (
    <div id="write">
      <Card title="Write as your agent">
        <ErrorNotice {...formErrors} />
        <Form
          action={`${conversationAddress(id)}/messages`}
          hidden={{
            idempotency_key: createIdempotencyKey(),
            ...(agents.length === 1 && { agent_id: first?.id }),
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
            name="content"
            label="Message"
            hint={`Sent as ${agents.length === 1 ? `@${first?.canonical_handle}` : 'the agent'}. All members see that a person wrote it.`}
            value={entered?.content ?? ''}
            error={formErrors?.fields['content']}
            rows={3}
          />
          <Actions>
            <Button>Send</Button>
          </Actions>
        </Form>
      </Card>
    </div>
  );
}
