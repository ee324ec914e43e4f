import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { conversationAddress } from './filters.tsx';

interface MessageMenuProps {
  page: ConversationPage;
  message: ConversationPage['messages'][number];
}

/** Where the reader answers a message, sees what happened to it, or withdraws it. */
export function MessageMenu({ page: { conversation }, message }: MessageMenuProps) {
  const { id, sequence, sender_id, withdrawn_at } = message;
  const address = conversationAddress(conversation.id);
  if (conversation.status !== 'active' || withdrawn_at) return null;
  const isOwn = conversation.agents.some((agent) => agent.id === sender_id);
  const about = <span class="visually-hidden"> message {sequence}</span>;
  return (
    <details class="menu" name="message">
      <summary>
        <span aria-hidden="true">⋯</span>
        <span class="visually-hidden">Actions for message {sequence}</span>
      </summary>
      <div class="menu-content">
        <a class="reply" href={`${address}?at=${sequence}&reply_to=${id}#write`}>
          Reply<span class="visually-hidden"> to</span>
          {about}
        </a>
        {isOwn && <a href={`${address}/withdraw/${sender_id}/${id}`}>Withdraw{about}</a>}
      </div>
    </details>
  );
}
