import { useState } from 'preact/hooks';
import type { ThreadRecord } from '../../../../packages/core/src/records/thread.ts';
import { Badge } from '../components/content.tsx';
import { Day, dayOf, isOneRun, Moment, Sender } from '../components/message-parts.tsx';
import { ActionButton, ActionError, useAction } from './action.tsx';
import { call, type ViewHost } from './host.ts';
import type { ConversationValue, ShownMessage } from './results.ts';

/** The result of `get_thread` with buttons that read on. */
export function Conversation({ host, value: first }: { host: ViewHost; value: ConversationValue }) {
  const [{ thread, messages, earlier }, setValue] = useState(first);
  const [done, setDone] = useState('');
  const action = useAction();
  const { id: thread_id, unread_count: unread } = thread;
  const read = (args: object) => call(host, 'get_thread', { thread_id, ...args });

  async function showEarlier() {
    const page = await read({ before_sequence: messages[0]?.sequence ?? 1 });
    setValue({ thread, messages: [...page.messages, ...messages], earlier: page.earlier });
  }

  async function showWhole({ id, sequence }: ShownMessage) {
    const page = await read({ before_sequence: sequence + 1, message_limit: 1 });
    const whole = page.messages.find((message) => message.id === id);
    if (!whole) return;
    setValue({ thread, earlier, messages: messages.map((one) => (one.id === id ? whole : one)) });
  }

  /** Marks what was shown whole. */
  async function markRead() {
    const cut = messages.findIndex(({ truncated }) => truncated);
    const up_to_sequence = messages.at(cut === -1 ? -1 : cut - 1)?.sequence;
    if (cut === 0 || up_to_sequence === undefined)
      throw new Error('Show the first message whole before you mark it as read.');
    await call(host, 'mark_read', { thread_id, up_to_sequence });
    setValue(await read({}));
    setDone('Marked as read.');
  }

  return (
    <>
      <Head thread={thread} />
      {earlier && host.canCall && (
        <p>
          <ActionButton of={action} onPress={showEarlier}>
            Earlier messages
          </ActionButton>
        </p>
      )}
      <MessageList
        host={host}
        messages={messages}
        onWhole={(message) => action.run(() => showWhole(message))}
      />
      <ActionError of={action} />
      <p role="status" class="hint">
        {done}
      </p>
      {host.canCall && (
        <div class="actions">
          {unread > 0 && (
            <ActionButton of={action} onPress={markRead} kind="primary">
              Mark as read
            </ActionButton>
          )}
          <ActionButton of={action} onPress={async () => setValue(await read({}))}>
            Refresh
          </ActionButton>
        </div>
      )}
    </>
  );
}

function Head({ thread: { subject, members, status, unread_count: unread } }: { thread: ThreadRecord }) {
  const names = members.map(({ canonical_handle: handle }) => `@${handle}`).join(', ');
  return (
    <div class="view-head">
      <h1>{subject ?? 'Conversation'}</h1>
      {status !== 'active' && <Badge>{status}</Badge>}
      {unread > 0 && <Badge tone="accent">{unread} unread</Badge>}
      <p class="hint">{names}</p>
    </div>
  );
}

interface MessageListProps {
  host: ViewHost;
  messages: readonly ShownMessage[];
  onWhole: (message: ShownMessage) => void;
}

function MessageList({ host: { timeZone, canCall }, messages, onWhole }: MessageListProps) {
  if (messages.length === 0) return <p class="calm">No messages yet.</p>;
  const runs = messages.map((message) => ({ ...message, sender_handle: message.sender.canonical_handle }));
  return (
    <ol class="messages" aria-label="Messages">
      {runs.flatMap((message, index) => {
        const previous = runs[index - 1];
        const day = dayOf(message.created_at, timeZone);
        const isNewDay = !previous || day !== dayOf(previous.created_at, timeZone);
        const startsRun = !isOneRun(previous, message, timeZone);
        const isOwn = message.relationship === 'self';
        return [
          isNewDay && <Day key={day} day={day} />,
          <li class={`message${isOwn ? ' own' : ''}${startsRun ? ' run' : ''}`} key={message.id}>
            {startsRun && <Sender message={message} isOwn={isOwn} />}
            <Moment message={message} />
            <MessageBody
              message={message}
              answered={messages.find(({ id }) => id === message.reply_to)}
              {...(canCall && { onWhole: () => onWhole(message) })}
            />
          </li>,
        ];
      })}
    </ol>
  );
}

interface MessageBodyProps {
  message: ShownMessage;
  answered: ShownMessage | undefined;
  onWhole?: () => void;
}

/** Texts of others are text nodes: nothing of them is markup. */
function MessageBody({ message, answered, onWhole }: MessageBodyProps) {
  const { content, reply_to, attachments, metadata, withdrawn_at, replaced_by, truncated } = message;
  const answer = answered
    ? `message ${answered.sequence} of @${answered.sender.canonical_handle}`
    : 'an earlier message';
  return (
    <div class="message-body">
      {reply_to !== null && <p class="hint">Answers {answer}</p>}
      {content !== '' && (
        <p class="message-text" dir="auto">
          {content}
        </p>
      )}
      {truncated && onWhole && (
        <p>
          <button type="button" class="link" onClick={onWhole}>
            Show the whole message
          </button>
        </p>
      )}
      {withdrawn_at !== undefined && <p class="hint">Withdrawn by its sender.</p>}
      {replaced_by !== undefined && <p class="hint">Replaced by a later message.</p>}
      {attachments.map(({ id, filename, content_type }) => (
        <p class="file" key={id}>
          <bdi>{filename}</bdi> <span class="hint">{content_type}</span>
        </p>
      ))}
      {metadata['asks_person'] === true && (
        <p>
          <Badge tone="warning">Asks a person</Badge>
        </p>
      )}
    </div>
  );
}
