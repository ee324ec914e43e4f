import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { CardLink, Handle } from '../../components/agent-rows.tsx';
import { Badge, Empty, Heading } from '../../components/content.tsx';
import { LiveRegion } from '../../components/live-region.tsx';
import { formPage } from '../../form-errors.ts';
import type { ShownPage } from '../../route.ts';
import { conversationAddress, conversationsAddress } from './filters.tsx';
import { MessageList } from './messages.tsx';
import { ConversationBadges, titleOf } from './rows.tsx';
import { type EnteredMessage, WriteForm } from './write-form.tsx';

/** The messages, or what to expect when there are none. */
export function Messages({ found, whole }: { found: ConversationPage; whole: number | null }) {
  if (found.messages.length === 0 && found.approvals.length === 0)
    return <Empty title="No messages">Messages appear here as soon as a member sends one.</Empty>;
  return <MessageList page={found} whole={whole} />;
}

/** What a page shows besides the latest messages. */
interface ConversationView {
  /** The end of an older page. */
  before_sequence?: number | undefined;
  /** The sequence of the message that is shown whole. */
  whole?: number | null;
  /** A message that could not be sent. */
  entered?: EnteredMessage;
}

/**
 * The page of a conversation.
 * @param cursor undefined when the page cannot be live.
 */
export function conversationPage(
  found: ConversationPage,
  { before_sequence, whole = null, entered }: ConversationView,
  cursor: string | undefined,
): ShownPage {
  const { conversation, messages, earlier } = found;
  const address = conversationAddress(conversation.id);
  const [first] = messages;
  const isLatest = (messages.at(-1)?.sequence ?? 0) >= conversation.last_sequence;
  const title = titleOf(conversation);
  const liveQuery = new URLSearchParams({
    from: String(first?.sequence ?? 1),
    ...(whole !== null && { whole: String(whole) }),
  });
  const rawQuery = before_sequence === undefined ? '' : `?before=${before_sequence}`;
  const body = (
    <>
      <Heading
        title={<bdi>{title}</bdi>}
        back={{ href: conversationsAddress, text: 'Conversations' }}
        lead={
          <span class="agent-line">
            <ConversationBadges conversation={conversation} />
            <a href={`${address}/raw${rawQuery}`}>JSON</a>
          </span>
        }
      />
      <Members found={found} />
      {earlier && first && (
        <p class="next-page">
          <a href={`${address}?before=${first.sequence}`} rel="prev">
            Older messages
          </a>
        </p>
      )}
      <LiveRegion
        address={`/console/live/conversations/${conversation.id}?${liveQuery.toString()}`}
        cursor={isLatest ? cursor : undefined}
        label="Messages"
        follow
      >
        <Messages found={found} whole={whole} />
      </LiveRegion>
      {!isLatest && (
        <p class="next-page">
          <a href={address}>Latest messages</a>
        </p>
      )}
      <WriteForm conversation={conversation} entered={entered} />
    </>
  );
  const page = formPage(title, body, entered?.formErrors);
  return { ...page, script: isLatest && cursor !== undefined ? 'live' : undefined };
}

const maxMembers = 50;

function Members({ found: { conversation, profiles } }: { found: ConversationPage }) {
  const { members, agents } = conversation;
  return (
    <details class="members">
      <summary>{members.length} members</summary>
      <ul>
        {members.slice(0, maxMembers).map(({ id, canonical_handle }) => {
          const profile = profiles.find((each) => each.id === id);
          const isOwn = agents.some((agent) => agent.id === id);
          return (
            <li key={id}>
              {isOwn ? (
                <a href={`/console/agents/${id}`}>
                  <Handle of={canonical_handle} />
                </a>
              ) : (
                <CardLink handle={canonical_handle} visibility={profile?.visibility}>
                  <Handle of={canonical_handle} />
                </CardLink>
              )}{' '}
              <span class="hint">
                owner {canonical_handle.split('.')[0]}, verified
                {profile === undefined && '; deleted'}
              </span>{' '}
              {isOwn && <Badge tone="accent">Your agent</Badge>}{' '}
              {profile?.is_online === true && <Badge tone="good">Online</Badge>}
            </li>
          );
        })}
      </ul>
      {members.length > maxMembers && <p>And {members.length - maxMembers} more.</p>}
    </details>
  );
}
