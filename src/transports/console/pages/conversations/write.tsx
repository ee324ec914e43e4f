import { sendMessageOperation } from '../../../../operations/messages/send-message.ts';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { readConversationPage } from '../../../../services/threads/conversation-page.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { readIdempotencyKey } from '../../idempotency-key.ts';
import { orShowFormAgain } from '../../form-errors.ts';
import { successFlash } from '../../flash.ts';
import { action } from '../../route.ts';
import { maxMessageFormBytes } from './new.tsx';
import { conversationPage } from './conversation-view.tsx';
import { pageSize } from './conversation.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';

/** Writes a message as one of the person's agents. Other members see that a person wrote it. */
export const writeAction = action(
  `${conversationsAddress}/:id/messages`,
  async ({ params, parts, person, form, read }) => {
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
      async (formErrors) => {
        const state = await read(readLiveState, person, thread_id);
        const reader = { account_id: person.account_id };
        const found = await read(readConversationPage, reader, { thread_id, limit: pageSize });
        return conversationPage(found, { entered: { ...entered, formErrors } }, state?.cursor);
      },
      { AGENT_PAUSED: 'content', THREAD_CLOSED: 'content' },
    );
  },
  maxMessageFormBytes,
);
