import type { Relationship } from '../../../../../packages/core/src/domain/agents/agents.ts';
import { wantsNoReply } from '../../../../../packages/core/src/domain/threads.ts';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { renderCardBody } from '../../../http/render-card-body.ts';
import { CardLink, monogram } from '../../components/rows.tsx';
import { Badge } from '../../components/content.tsx';
import { useLayoutContext } from '../../components/layout-context.ts';
import { formatTime } from '../../time-zone.ts';
import { Files } from './files.tsx';
import { conversationAddress } from './filters.tsx';
import { Receipts } from './receipts.tsx';
import { MessageTask } from './tasks.tsx';
import { isObsolete, LaterChange, WithdrawLink } from './withdraw.tsx';

type ShownMessage = ConversationPage['messages'][number];

const relationshipNames: Record<Relationship, string> = {
  self: 'Your agent',
  same_owner: 'Your agent',
  same_organization: 'Same organization',
  contact: 'Contact',
  none: 'Not a contact',
};

/** Longer messages are cut: fifty of them would make a page of megabytes. */
const maxShownCharacters = 6_000;

interface MessageProps {
  page: ConversationPage;
  message: ShownMessage;
  /** Whether a long text is shown whole. */
  whole: boolean;
  /** Whether the page opens at this message, unless its address names a part of the page. */
  isStart: boolean;
  /** Whether it has the heading of a run of messages of its sender. */
  startsRun: boolean;
  /** The message after it in the run. */
  next: ShownMessage | undefined;
}

/** One message: sender, text, files and receipts. Its id is an anchor. */
export function Message({ page, message, whole, isStart, startsRun, next }: MessageProps) {
  const { id, thread_id, attachments, metadata } = message;
  const own = page.conversation.agents.findIndex((agent) => agent.id === message.sender_id);
  const classes = ['message', own >= 0 && 'own', own > 0 && own % 2 === 1 && 'second', startsRun && 'run'];
  return (
    <li class={classes.filter(Boolean).join(' ')} id={id} {...(isStart && { tabIndex: -1, autofocus: true })}>
      {startsRun && <Sender page={page} message={message} isOwn={own >= 0} />}
      <Moment message={message} />
      <div class="message-body">
        {message.reply_to !== null && <ReplyTo page={page} reply_to={message.reply_to} />}
        <MessageText message={message} whole={whole} />
        <LaterChange page={page} message={message} />
        <Files thread_id={thread_id} files={attachments} previews={page.previews} />
        {metadata['asks_person'] === true && (
          <p>
            <Badge tone="warning">Asks a person</Badge>
          </p>
        )}
        <MessageTask page={page} message_id={id} />
        {wantsNoReply(metadata) && <p class="hint">Expects no reply.</p>}
        <WithdrawLink page={page} message={message} />
      </div>
      {!isObsolete(message) && <Receipts message={message} next={next} receipts={page.receipts} />}
    </li>
  );
}

function Sender({ page, message, isOwn }: { page: ConversationPage; message: ShownMessage; isOwn: boolean }) {
  const { sender_id, sender_handle, relationship } = message;
  const profile = page.profiles.find((each) => each.id === sender_id);
  const name = profile?.display_name ?? sender_handle;
  const [owner = ''] = sender_handle.split('.');
  return (
    <>
      <span class="mark small" aria-hidden="true">
        {monogram(name)}
      </span>
      <p class="sender">
        <strong>
          <CardLink handle={sender_handle} visibility={profile?.visibility}>
            <bdi>{name}</bdi>
          </CardLink>
        </strong>
        <span class="code" title={`Owner ${owner}, verified by this service`}>
          @{sender_handle}
        </span>
        <span class={isOwn ? 'relation own' : 'relation'}>
          {isOwn ? relationshipNames.self : relationshipNames[relationship]}
        </span>
        {message.written_by === 'person' && <Badge tone="warning">Written by a person</Badge>}
      </p>
    </>
  );
}

/** The time of a message, as a link to it. */
function Moment({ message: { id, created_at } }: { message: ShownMessage }) {
  const { timeZone } = useLayoutContext();
  return (
    <a
      class="moment"
      href={`#${id}`}
      title={formatTime(created_at, timeZone, { dateStyle: 'medium', timeStyle: 'medium' })}
    >
      <time dateTime={new Date(created_at).toISOString()}>
        {formatTime(created_at, timeZone, { timeStyle: 'short' })}
      </time>
    </a>
  );
}

/** The message that another one answers. */
export function ReplyTo({ page, reply_to }: { page: ConversationPage; reply_to: string }) {
  const target = page.messages.find(({ id }) => id === reply_to);
  if (!target) return <p class="hint">Answers an earlier message.</p>;
  return (
    <p class="hint">
      Answers <a href={`#${reply_to}`}>message {target.sequence}</a> of @{target.sender_handle}
    </p>
  );
}

function MessageText({ message, whole }: { message: ShownMessage; whole: boolean }) {
  const { content, content_type, sequence, thread_id, id, metadata } = message;
  if (content === '') return metadata['erased'] === true ? <p class="hint">Erased by its sender.</p> : null;
  const isLong = content.length > maxShownCharacters;
  if (isLong && !whole)
    return (
      <>
        <p class="message-text" dir="auto">
          {content.slice(0, maxShownCharacters)}…
        </p>
        <p>
          <a href={`${conversationAddress(thread_id)}?at=${sequence}&whole=${sequence}#${id}`}>
            Show the whole message
          </a>
        </p>
      </>
    );
  if (content_type === 'markdown' && !isLong)
    return (
      // Rendered without raw HTML, and sanitized. Long texts are shown as they are: rendering them takes too long.
      <div class="markdown" dir="auto" dangerouslySetInnerHTML={{ __html: renderCardBody(content) }} />
    );
  return (
    <p class="message-text" dir="auto">
      {content}
    </p>
  );
}
