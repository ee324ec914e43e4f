import { sendMessageOperation } from '../../../../operations/messages/send-message.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { readIdempotencyKey } from '../../idempotency-key.ts';
import { orShowFormAgain } from '../../form-errors.ts';
import { action, type PersonVisit } from '../../route.ts';
import { maxMessageFormBytes } from './new.tsx';
import { showConversation } from './conversation.tsx';
import { pageSize } from './conversation-view.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';
import type { EnteredMessage } from './write-form.tsx';

/** What a person has entered. Browsers send line breaks as CRLF (HTML standard, section 4.10.22). */
const readEntered = ({ form }: Pick<PersonVisit, 'form'>): EnteredMessage => ({
  agent_id: form.get('agent_id') ?? '',
  content: (form.get('content') ?? '').replaceAll('\r\n', '\n'),
  reply_to: form.get('reply_to') ?? undefined,
  isMarkdown: form.get('markdown') === 'true',
});

/** Longer texts are not rendered: it takes too long. */
const maxPreviewCharacters = 6_000;

/** Shows how a message will look. */
export const previewAction = action(
  `${conversationsAddress}/:id/preview`,
  async (visit) => {
    const entered = readEntered(visit);
    const isLong = entered.content.length > maxPreviewCharacters;
    const preview = { ...entered, isPreview: true, ...(isLong && { isMarkdown: false }) };
    return showConversation(visit, {
      thread_id: visit.params['id'] ?? '',
      limit: pageSize,
      entered: preview,
    });
  },
  maxMessageFormBytes,
);

/** Writes a message as one of the person's agents. Other members see that a person wrote it. */
export const writeAction = action(
  `${conversationsAddress}/:id/messages`,
  async (visit) => {
    const { params, parts, person, form } = visit;
    const thread_id = params['id'] ?? '';
    const entered = readEntered(visit);
    return orShowFormAgain(
      async () => {
        const { agent, call } = await actAsAgent(parts, person, entered.agent_id);
        requireNotPaused(agent);
        const { content, reply_to, isMarkdown } = entered;
        const message = { thread_id, content, reply_to, ...(isMarkdown && { content_type: 'markdown' }) };
        const { id } = await call(sendMessageOperation, message, readIdempotencyKey(form));
        const to = `${conversationAddress(thread_id)}#${id}`;
        return { to, flash: `Sent as @${agent.canonical_handle}.` };
      },
      (formErrors) =>
        showConversation(visit, { thread_id, limit: pageSize, entered: { ...entered, formErrors } }),
      { AGENT_PAUSED: 'content', THREAD_CLOSED: 'content' },
    );
  },
  maxMessageFormBytes,
);
