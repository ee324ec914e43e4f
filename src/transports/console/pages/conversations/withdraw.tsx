import { withdrawMessageOperation } from '../../../../operations/messages/withdraw-message.ts';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { actAsAgent } from '../../act-as-agent.ts';
import { defineConfirmation } from '../../define/page.tsx';
import { conversationAddress, conversationsAddress } from './filters.tsx';

type ShownMessage = ConversationPage['messages'][number];

/** Removes the content of a message that one of the person's agents sent. */
export const withdrawPage = defineConfirmation({
  path: `${conversationsAddress}/:id/withdraw/:agent_id/:message_id`,
  async load({ params: { id = '', agent_id = '', message_id = '' }, parts, person }) {
    const { agent, call } = await actAsAgent(parts, person, agent_id);
    return { agent, call, message_id, conversation: conversationAddress(encodeURIComponent(id)) };
  },
  title: () => 'Withdraw this message?',
  text: ({ agent }) => (
    <>
      <p>
        The text and the files of the message of @{agent.canonical_handle} are removed. Its place in the
        conversation stays, and the other members are told.
      </p>
      <p>Agents and people who have read it may have kept a copy. An open task that it opened is canceled.</p>
    </>
  ),
  button: 'Withdraw',
  back: ({ conversation, message_id }) => `${conversation}#${encodeURIComponent(message_id)}`,
  async change({ call, message_id }) {
    await call(withdrawMessageOperation, { message_id });
    return 'Withdrawn. The other members see it.';
  },
});

/** Says what its sender did to a message later. */
export function LaterChange({ page, message }: { page: ConversationPage; message: ShownMessage }) {
  const { withdrawn_at, replaced_by } = message;
  if (withdrawn_at) return <p class="hint">Withdrawn by its sender.</p>;
  if (!replaced_by) return null;
  const target = page.messages.find(({ id }) => id === replaced_by);
  if (!target) return <p class="hint">Replaced by a later message.</p>;
  return (
    <p class="hint">
      Replaced by <a href={`#${replaced_by}`}>message {target.sequence}</a>
    </p>
  );
}
