import { presentSubject } from '../../../../../packages/core/src/domain/threads.ts';
import type { Conversation } from '../../../../services/threads/conversations.ts';
import { monogram, Time } from '../../components/rows.tsx';
import { Badge } from '../../components/content.tsx';
import { conversationAddress, statusNames } from './filters.tsx';
import { MarkButtons } from './marks.tsx';
import { taskLabels } from './tasks.tsx';

const maxNames = 3;

interface ConversationRowsProps {
  conversations: readonly Conversation[];
  /** The id of the conversation that is open beside the list. */
  open?: string | undefined;
  /** The page of the list, to which the buttons of its rows return. Absent: they have none. */
  address?: string | undefined;
}

/** A list of conversations with links to their pages, two lines each. */
export function ConversationRows({ conversations, open, address }: ConversationRowsProps) {
  return (
    <ul class="threads" id="conversations" aria-label="Conversations">
      {conversations.map((conversation) => (
        <ConversationRow
          key={conversation.id}
          conversation={conversation}
          isOpen={conversation.id === open}
          address={address}
        />
      ))}
    </ul>
  );
}

interface ConversationRowProps extends Pick<ConversationRowsProps, 'address'> {
  conversation: Conversation;
  isOpen: boolean;
}

function ConversationRow({ conversation, isOpen, address }: ConversationRowProps) {
  const { id, subject, agents, members, last_message, created_at, muted } = conversation;
  const others = othersOf(conversation);
  const unread = unreadOf(conversation);
  const named = presentSubject(subject) === null ? others.length > 0 && agents : [...others, ...agents];
  return (
    <li class={`thread${unread > 0 ? ' unread' : ''}${muted ? ' muted' : ''}`} id={id}>
      <span class="mark" aria-hidden="true">
        {monogram((others[0] ?? members[0])?.canonical_handle.split('.').at(-1) ?? '')}
      </span>
      <div class="thread-line">
        <a class="thread-link" href={conversationAddress(id)} aria-current={isOpen ? 'page' : undefined}>
          <bdi>{titleOf(conversation)}</bdi>
        </a>{' '}
        <span class="thread-names">{named && namesOf(named)}</span>
        <Time at={last_message?.created_at ?? created_at} isShort />
      </div>
      <div class="thread-line">
        {last_message === null ? (
          <span class="thread-text">No messages yet.</span>
        ) : (
          <span class="thread-text">
            {last_message.sender_handle.split('.').at(-1)}:{' '}
            <bdi>{plainText(last_message.preview, last_message.content_type)}</bdi>
          </span>
        )}
        <TaskBadge conversation={conversation} />
        <ConversationBadges conversation={conversation} isRow />
      </div>
      {address !== undefined && !isOpen && (
        <MarkButtons conversation={conversation} title={titleOf(conversation)} address={address} />
      )}
    </li>
  );
}

const othersOf = ({ agents, members }: Conversation) =>
  members.filter(({ id }) => agents.every((agent) => agent.id !== id));

function namesOf(members: readonly { canonical_handle: string }[]): string {
  const named = members.slice(0, maxNames).map(({ canonical_handle }) => `@${canonical_handle}`);
  const rest = members.length - maxNames;
  return named.join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

/** The subject, or else the other members. */
export function titleOf(conversation: Conversation): string {
  const others = othersOf(conversation);
  return presentSubject(conversation.subject) ?? namesOf(others.length > 0 ? others : conversation.members);
}

/** The beginning of a message without the marks of Markdown. A link, which may be cut there, is only its text. */
export function plainText(text: string, content_type: string): string {
  if (content_type !== 'markdown') return text;
  return text
    .replaceAll(/!?\[([^[\]]*)\]\((?:[^)\n]*\)|\S*$)/g, '$1')
    .replaceAll(/^\s*(?:#{1,6}|[-*+>]|\d+\.)\s+|[*_`~]{1,3}|^\s*\|?[-|: ]{3,}$/gm, '');
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

/** Messages that none of the reader's agents has read, if the reader wants to know. */
const unreadOf = ({ agents, done, muted }: Conversation): number =>
  done || muted ? 0 : Math.max(0, ...agents.map(({ unread_count }) => unread_count));

interface BadgesProps {
  conversation: Conversation;
  /** Whether they are in a row, where an open task says more, and what is not urgent has no place. */
  isRow?: boolean;
}

/** Badges for on whose answer a conversation waits, for its status, how the reader has marked it, and unread messages. */
export function ConversationBadges({ conversation, isRow = false }: BadgesProps) {
  const { status, waiting, open_task, done, muted } = conversation;
  const unread = unreadOf(conversation);
  const detail = (text: string) => (isRow ? <span class="visually-hidden">{text}</span> : text);
  return (
    <>
      {waiting === 'me' && !(isRow && open_task) && (
        <Badge tone="warning">Waits{detail(' for your agent')}</Badge>
      )}
      {waiting === 'others' && !isRow && <Badge>Waits for others</Badge>}
      {status !== 'active' && <Badge>{statusNames[status]}</Badge>}
      {done && <Badge tone="good">Done</Badge>}
      {muted && <Badge>Muted</Badge>}
      {unread > 0 && (
        <Badge tone="accent">
          {unread}
          {detail(' unread')}
        </Badge>
      )}
    </>
  );
}
