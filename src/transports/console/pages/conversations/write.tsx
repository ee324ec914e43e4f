import { sendMessageOperation } from '../../../../operations/messages/send-message.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { readIdempotencyKey } from '../../idempotency-key.ts';
import { orShowFormAgain } from '../../form-errors.ts';
import { successFlash } from '../../flash.ts';
import { action } from '../../route.ts';
import { maxMessageFormBytes } from './new.tsx';
import { showConversation } from './conversation.tsx';
import { pageSize } from './conversation-view.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';

/** Writes a message as one of the person's agents. Other members see that a person wrote it. */
export const writeAction = action(
  `${conversationsAddress}/:id/messages`,
  async (visit) => {
    const { params, parts, person, form } = visit;
    const thread_id = params['id'] ?? '';
    const entered = {
      agent_id: form.get('agent_id') ?? '',
      content: form.get('content') ?? '',
      reply_to: form.get('reply_to') ?? undefined,
    };
    return orShowFormAgain(
      async () => {
        const { agent, call } = await actAsAgent(parts, person, entered.agent_id);
        requireNotPaused(agent);
        // Browsers send line breaks as CRLF (HTML standard, section 4.10.22).
        const content = entered.content.replaceAll('\r\n', '\n');
        const message = { thread_id, content, reply_to: entered.reply_to };
        const { id } = await call(sendMessageOperation, message, readIdempotencyKey(form));
        const to = `${conversationAddress(thread_id)}#${id}`;
        return { to, flash: successFlash(`Sent as @${agent.canonical_handle}.`) };
      },
      (formErrors) =>
        showConversation(visit, { thread_id, limit: pageSize, entered: { ...entered, formErrors } }),
      { AGENT_PAUSED: 'content', THREAD_CLOSED: 'content' },
    );
  },
  maxMessageFormBytes,
);
