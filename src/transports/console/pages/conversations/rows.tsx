import { presentSubject } from '../../../../../packages/core/src/domain/threads.ts';
import type { Conversation } from '../../../../services/threads/conversations.ts';
import { monogram, Rows, Time } from '../../components/rows.tsx';
import { Badge } from '../../components/content.tsx';
import { conversationAddress } from './filters.tsx';
import { taskLabels } from './tasks.tsx';

const maxNames = 3;

/** A list of conversations with links to their pages. */
export function ConversationRows({ conversations }: { conversations: readonly Conversation[] }) {
  const rows = conversations.map((conversation) => ({
    key: conversation.id,
    id: conversation.id,
    mark: monogram(titleOf(conversation)),
    title: (
      <a href={conversationAddress(conversation.id)}>
        <bdi>{titleOf(conversation)}</bdi>
      </a>
    ),
    text: <Summary conversation={conversation} />,
    side: (
      <>
        <TaskBadge conversation={conversation} />
        <ConversationBadges conversation={conversation} />
      </>
    ),
  }));
  return <Rows label="Conversations" rows={rows} id="conversations" />;
}

/** The subject, or else the other members. */
export function titleOf({ subject, agents, members }: Conversation): string {
  const shown = presentSubject(subject);
  if (shown !== null) return shown;
  const others = members.filter(({ id }) => agents.every((agent) => agent.id !== id));
  const named = (others.length > 0 ? others : members).map(({ canonical_handle }) => `@${canonical_handle}`);
  const rest = named.length - maxNames;
  return named.slice(0, maxNames).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

function Summary({ conversation }: { conversation: Conversation }) {
  const { agents, last_message, created_at } = conversation;
  const own = agents.map(({ canonical_handle }) => `@${canonical_handle}`);
  return (
    <>
      <span class="code">{own.slice(0, maxNames).join(', ')}</span> ·{' '}
      <Time at={last_message?.created_at ?? created_at} />
      {last_message === null ? (
        <p>No messages yet.</p>
      ) : (
        <p class="preview">
          <span class="code">@{last_message.sender_handle}</span>: <bdi>{last_message.preview}</bdi>
        </p>
      )}
    </>
  );
}

/** The state of the open task that needs attention first. */
function TaskBadge({ conversation: { open_task } }: { conversation: Conversation }) {
  if (!open_task) return null;
  const { label, tone } = taskLabels[open_task.state];
  return open_task.overdue ? (
    <Badge tone="danger">Task overdue</Badge>
  ) : (
    <Badge tone={tone}>Task: {label.toLowerCase()}</Badge>
  );
}

/** Badges for unread messages, the status, and on whose answer it waits. */
export function ConversationBadges({ conversation }: { conversation: Conversation }) {
  const { agents, status, waiting } = conversation;
  const unread = Math.max(0, ...agents.map(({ unread_count }) => unread_count));
  return (
    <>
      {unread > 0 && <Badge tone="accent">{unread} unread</Badge>}
      {waiting === 'me' && <Badge tone="warning">Waits for your agent</Badge>}
      {waiting === 'others' && <Badge>Waits for others</Badge>}
      {status !== 'active' && <Badge>{status === 'closed' ? 'Closed' : 'Archived'}</Badge>}
    </>
  );
}
