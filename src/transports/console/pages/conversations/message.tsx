import { wantsNoReply } from '../../../../../packages/core/src/domain/threads.ts';
import { isObsolete } from '../../../../../packages/core/src/domain/withdrawals.ts';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';
import { renderCardBody } from '../../../http/render-card-body.ts';
import { Badge } from '../../components/content.tsx';
import { Moment, Sender } from '../../components/message-parts.tsx';
import { Receipts } from '../../components/receipts.tsx';
import { ReplyButton } from './draft.tsx';
import { Files } from './files.tsx';
import { conversationAddress } from './filters.tsx';
import { plainText } from './rows.tsx';
import { MessageTask } from './tasks.tsx';
import { LaterChange } from './withdraw.tsx';

type ShownMessage = ConversationPage['messages'][number];

/** Longer messages are cut: fifty of them would make a page of megabytes. */
const maxShownCharacters = 6_000;

/** A conversation as a page shows it. */
export interface ShownConversation extends ConversationPage {
  /** The path of the page of a watch link. Absent: that of the console. */
  watchAddress?: string;
}

const addressOf = ({ conversation, watchAddress }: ShownConversation): string =>
  watchAddress ?? conversationAddress(conversation.id);

interface MessageProps {
  page: ShownConversation;
  message: ShownMessage;
  /** Whether a long text is shown whole. */
  whole: boolean;
  /** Whether the page opens at this message, unless its address names a part of the page. */
  isStart: boolean;
  /** Whether the address of the page names it, such as that of a search result. */
  isNamed: boolean;
  /** Whether it has the heading of a run of messages of its sender. */
  startsRun: boolean;
  /** The message after it in the run. */
  next: ShownMessage | undefined;
}

/** One message: sender, text, files and receipts. Its id is an anchor. */
export function Message({ page, message, whole, isStart, isNamed, startsRun, next }: MessageProps) {
  const { id, attachments, metadata } = message;
  const own = page.conversation.agents.findIndex((agent) => agent.id === message.sender_id);
  const classes = [
    'message',
    own >= 0 && 'own',
    own > 0 && own % 2 === 1 && 'second',
    startsRun && 'run',
    isNamed && 'named',
  ];
  return (
    <li class={classes.filter(Boolean).join(' ')} id={id} {...(isStart && { tabIndex: -1, autofocus: true })}>
      {startsRun && (
        <Sender
          message={message}
          isOwn={own >= 0}
          profile={findProfile(page, message)}
          hasRelation={page.watchAddress === undefined}
        />
      )}
      <div class="message-side">
        <Moment message={message} href={`#${id}`} />
        {page.watchAddress === undefined && <MessageMenu page={page} message={message} />}
      </div>
      <div class="message-body">
        {message.reply_to !== null && <ReplyTo page={page} reply_to={message.reply_to} />}
        <MessageText address={addressOf(page)} message={message} whole={whole} />
        <LaterChange page={page} message={message} />
        <Files address={addressOf(page)} files={attachments} previews={page.previews} />
        {metadata['asks_person'] === true && (
          <p>
            <Badge tone="warning">Asks a person</Badge>
          </p>
        )}
        <MessageTask page={page} message_id={id} />
        {wantsNoReply(metadata) && <p class="hint">Expects no reply.</p>}
      </div>
      {!isObsolete(message) && <Receipts message={message} next={next} receipts={page.receipts} />}
    </li>
  );
}

/** Where the reader answers a message, sees what happened to it, or withdraws it. */
function MessageMenu({ page: { conversation }, message }: Pick<MessageProps, 'page' | 'message'>) {
  const { id, sequence, sender_id, withdrawn_at } = message;
  const address = conversationAddress(conversation.id);
  const canChange = conversation.status === 'active' && !withdrawn_at;
  const isOwn = conversation.agents.some((agent) => agent.id === sender_id);
  const about = <span class="visually-hidden"> message {sequence}</span>;
  return (
    <details class="menu" name="message">
      <summary>
        <span aria-hidden="true">⋯</span>
        <span class="visually-hidden">Actions for message {sequence}</span>
      </summary>
      <div class="menu-content">
        {canChange && (
          <ReplyButton class="reply" thread_id={conversation.id} message_id={id}>
            Reply<span class="visually-hidden"> to</span>
            {about}
          </ReplyButton>
        )}
        <a href={`${address}/messages/${id}`} data-over>
          Trace<span class="visually-hidden"> of</span>
          {about}
        </a>
        {canChange && isOwn && <a href={`${address}/withdraw/${sender_id}/${id}`}>Withdraw{about}</a>}
      </div>
    </details>
  );
}

const findProfile = (page: ConversationPage, { sender_id }: ShownMessage) =>
  page.profiles.find((each) => each.id === sender_id);

const maxQuotedCharacters = 160;

/** The beginning of the message that another one answers, with a link to it. */
export function ReplyTo({ page, reply_to }: { page: ShownConversation; reply_to: string }) {
  const target = page.messages.find(({ id }) => id === reply_to);
  if (target)
    return (
      <p class="reply-to">
        <span class="visually-hidden">Answers </span>
        <a href={`#${reply_to}`}>@{target.sender_handle}</a>{' '}
        <bdi>{plainText(target.content.slice(0, maxQuotedCharacters), target.content_type)}</bdi>
      </p>
    );
  const address = `${conversationAddress(page.conversation.id)}?message=${reply_to}`;
  return (
    <p class="reply-to">
      {page.watchAddress === undefined ? (
        <a href={address}>Answers an earlier message</a>
      ) : (
        'Answers an earlier message'
      )}
    </p>
  );
}

interface MessageTextProps extends Pick<MessageProps, 'message' | 'whole'> {
  /** The path of the page of the conversation. */
  address: string;
}

function MessageText({ address, message, whole }: MessageTextProps) {
  const { content, content_type, sequence, id, metadata } = message;
  if (content === '') return metadata['erased'] === true ? <p class="hint">Erased by its sender.</p> : null;
  const isLong = content.length > maxShownCharacters;
  if (isLong && !whole)
    return (
      <>
        <p class="message-text" dir="auto">
          {content.slice(0, maxShownCharacters)}…
        </p>
        <p>
          <a href={`${address}?at=${sequence}&whole=${sequence}#${id}`}>Show the whole message</a>
        </p>
      </>
    );
  // Long texts are shown as they are: rendering them takes too long.
  return <MessageBody content={content} isMarkdown={content_type === 'markdown' && !isLong} />;
}

/** The text of a message. Markdown is rendered without raw HTML, and sanitized. */
export function MessageBody({ content, isMarkdown }: { content: string; isMarkdown: boolean }) {
  if (isMarkdown)
    return <div class="markdown" dir="auto" dangerouslySetInnerHTML={{ __html: renderCardBody(content) }} />;
  return (
    <p class="message-text" dir="auto">
      {content}
    </p>
  );
}
