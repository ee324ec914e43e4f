import type { ComponentChildren } from 'preact';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { CardLink, Handle } from '../../components/rows.tsx';
import { Badge, Empty, Icon, Notice } from '../../components/content.tsx';
import { Button } from '../../components/form.tsx';
import { LiveRegion } from '../../components/live-region.tsx';
import { formPage } from '../../form-errors.ts';
import type { ShownPage } from '../../route.ts';
import { conversationAddress, conversationsAddress } from './filters.tsx';
import { MessageList, type MessageListProps } from './messages.tsx';
import { Panes } from './pane.tsx';
import { MarkButtons } from './marks.tsx';
import { ConversationBadges, titleOf } from './rows.tsx';
import { OpenTasks } from './tasks.tsx';
import { Watches, watchLinksAddress } from '../watching/watch-links.tsx';
import { type EnteredMessage, WriteForm } from './write-form.tsx';

/** What the page keeps up to date: its head, the open tasks, and the messages, or what to expect when there are none, and whether it takes messages. */
export function LiveContent({ page, whole, start, named }: MessageListProps) {
  const isEmpty = page.messages.length === 0 && page.approvals.length === 0;
  return (
    <>
      <ThreadHead page={page} />
      <OpenTasks page={page} />
      {isEmpty ? (
        <Empty title="No messages">Messages appear here as soon as a member sends one.</Empty>
      ) : (
        <MessageList page={page} whole={whole} start={start} named={named} />
      )}
      {page.conversation.status !== 'active' && (
        <div class="inactive" id="inactive">
          <Notice tone="accent" title="This conversation is not active">
            It accepts messages when an agent makes it active again.
          </Notice>
        </div>
      )}
    </>
  );
}

/** Title, badges, members, and the way to other messages. */
function ThreadHead({ page }: { page: ConversationPage }) {
  const { conversation, messages, earlier } = page;
  const address = conversationAddress(conversation.id);
  const last = messages.at(-1)?.sequence ?? 0;
  const isLatest = hasLatest(page);
  return (
    <header class="thread-head" id="head" aria-live="off">
      <div class="thread-title">
        <a class="back" href={conversationsAddress}>
          <Icon name="back" /> Conversations
        </a>
        <h1>
          <bdi>{titleOf(conversation)}</bdi>
        </h1>
        <p class="agent-line" id="state">
          <ConversationBadges conversation={conversation} />
        </p>
        <MarkButtons conversation={conversation} title={titleOf(conversation)} />
        <Watches conversation={conversation} />
      </div>
      <div class="thread-tools">
        <Members found={page} />
        <nav aria-label="Messages of this conversation">
          {isLatest && hasEarlierUnread(page) && (
            <a href={`${address}?start=${firstUnreadOf(page)}`}>First unread message</a>
          )}
          <OtherMessages page={page} address={address} />
          {(earlier || !isLatest) && <GoToDate address={address} />}
          <a data-turbo="false" href={`${address}/raw${isLatest ? '' : `?before=${last + 1}`}`}>
            JSON
          </a>
          <a href={watchLinksAddress(conversation.id)}>Share to watch</a>
        </nav>
      </div>
    </header>
  );
}

/** Whether a page has the latest message. */
export const hasLatest = ({ conversation, messages }: ConversationPage): boolean =>
  (messages.at(-1)?.sequence ?? 0) >= conversation.last_sequence;

/** The links to earlier and later messages. @param address the path of the page */
export function OtherMessages({ page, address }: { page: ConversationPage; address: string }) {
  const { messages, earlier } = page;
  return (
    <>
      {earlier && (
        <>
          <a href={`${address}?start=1`}>First</a>
          <a href={`${address}?before=${messages[0]?.sequence ?? 1}`} rel="prev">
            Older
          </a>
        </>
      )}
      {!hasLatest(page) && (
        <>
          <a href={`${address}?before=${(messages.at(-1)?.sequence ?? 0) + pageSize + 1}`} rel="next">
            Newer
          </a>
          <a href={address}>Newest</a>
        </>
      )}
    </>
  );
}

function GoToDate({ address }: { address: string }) {
  return (
    <details class="go-to-date">
      <summary>Date</summary>
      <form method="get" action={address}>
        <label for="date">Go to date</label>
        <input id="date" type="date" name="date" required />
        <Button kind="quiet">Go</Button>
      </form>
    </details>
  );
}

/** The marks of the reader's agents that have unread messages. */
function listUnreadMarks({ conversation, receipts }: ConversationPage) {
  const { agents } = conversation;
  return receipts.filter(({ id }) => agents.some((agent) => agent.id === id && agent.unread_count > 0));
}

/**
 * The message at which the page opens: the one that its address asks for, else the first unread one, else the last. An agent that never marks
 * messages as read has its first unread one on an early page; the page then opens at its end.
 */
function findStart(page: ConversationPage, at: number | null): number | undefined {
  const { messages } = page;
  if (at !== null && messages.some(({ sequence }) => sequence === at)) return at;
  const marks = listUnreadMarks(page);
  const isUnread = ({ sequence, sender_id }: (typeof messages)[number]) =>
    marks.some((mark) => sequence > mark.read_sequence && sender_id !== mark.id);
  const first = hasEarlierUnread(page) ? undefined : messages.find(isUnread);
  return (first ?? messages.at(-1))?.sequence;
}

/** Only for a page with unread messages. */
function firstUnreadOf(page: ConversationPage): number {
  return Math.min(...listUnreadMarks(page).map(({ read_sequence }) => read_sequence + 1));
}

function hasEarlierUnread(page: ConversationPage): boolean {
  const [first] = page.messages;
  return listUnreadMarks(page).some(
    ({ read_sequence }) => first !== undefined && read_sequence + 1 < first.sequence,
  );
}

/** What a page shows besides the latest messages. */
export interface ConversationView {
  /** The sequence of the message at which the page opens. */
  at?: number | null;
  /** The sequence of the message that the address names, which is marked. */
  named?: number | null;
  /** The sequence of the message that is shown whole. */
  whole?: number | null;
  /** The message that the form answers. */
  reply_to?: string | null;
  /** A message that could not be sent. */
  entered?: EnteredMessage;
}

/**
 * The page of a conversation.
 * @param pane the list at its left on a wide screen
 * @param cursor undefined when the page cannot be live.
 */
export function conversationPage(
  found: ConversationPage,
  pane: ComponentChildren,
  { at = null, named = null, whole = null, reply_to = null, entered }: ConversationView,
  cursor: string | undefined,
): ShownPage {
  const { conversation, messages } = found;
  const liveQuery = new URLSearchParams({
    from: String(messages[0]?.sequence ?? 1),
    ...(whole !== null && { whole: String(whole) }),
    ...(named !== null && { at: String(named) }),
  });
  const body = (
    <Panes list={pane}>
      <LiveRegion
        id="live-thread"
        address={`/console/live/conversations/${conversation.id}?${liveQuery.toString()}`}
        cursor={hasLatest(found) ? cursor : undefined}
        label="Messages"
        follow
      >
        <LiveContent page={found} whole={whole} start={findStart(found, at)} named={named} />
      </LiveRegion>
      <WriteForm page={found} entered={entered} reply_to={entered?.reply_to ?? reply_to ?? ''} />
    </Panes>
  );
  return formPage(titleOf(conversation), body, entered?.formErrors);
}

/** Messages on one page. */
export const pageSize = 50;

const maxMembers = 50;

/** The members, with the owners that the service verified. */
export function Members({ found: { conversation, profiles } }: { found: ConversationPage }) {
  const { members, agents } = conversation;
  return (
    <details class="members" id="members">
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
