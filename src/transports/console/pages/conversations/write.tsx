import { system } from '../../../../../packages/core/src/domain/auth/audit.ts';
import { sendMessageOperation } from '../../../../operations/messages/send-message.ts';
import { readLiveState } from '../../../../services/people/live-pages.ts';
import { readConversationPage } from '../../../../services/threads/conversation-page.ts';
import { actAsAgent, requireNotPaused } from '../../act-as-agent.ts';
import { readIdempotencyKey } from '../../idempotency-key.ts';
import { orShowFormAgain } from '../../form-errors.ts';
import { successFlash } from '../../flash.ts';
import type { PageParts } from '../../parts.ts';
import { action, type ConsoleRoute } from '../../route.ts';
import { conversationPage } from './conversation-view.tsx';
import { pageSize } from './conversation.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';

/** A text of 32 KiB with every byte escaped, and the other fields. */
const maxFormBytes = 128 * 1024;

/** Writes a message as one of the person's agents. Other members see that a person wrote it. */
export function writeRoutes(parts: PageParts): ConsoleRoute[] {
  return [
    action(
      `${conversationsAddress}/:id/messages`,
      async ({ params, person, form }) => {
        const thread_id = params['id'] ?? '';
        const entered = { agent_id: form.get('agent_id') ?? '', content: form.get('content') ?? '' };
        return orShowFormAgain(
          async () => {
            const { agent, call } = await actAsAgent(parts, person, entered.agent_id);
            requireNotPaused(agent);
            // Browsers send line breaks as CRLF (HTML standard, section 4.10.22).
            const content = entered.content.replaceAll('\r\n', '\n');
            const key = readIdempotencyKey(form);
            const { id } = await call(sendMessageOperation, { thread_id, content }, key);
            const to = `${conversationAddress(thread_id)}#${id}`;
            return { to, flash: successFlash(`Sent as @${agent.canonical_handle}.`) };
          },
          (formErrors) =>
            parts.unitOfWork.read(system, async (work) => {
              const state = await readLiveState(work, person, thread_id);
              const reader = { account_id: person.account_id };
              const found = await readConversationPage(work, reader, { thread_id, limit: pageSize });
              return conversationPage(found, { entered: { ...entered, formErrors } }, state?.cursor);
            }),
          { AGENT_PAUSED: 'content', THREAD_CLOSED: 'content' },
        );
      },
      maxFormBytes,
    ),
  ];
}
