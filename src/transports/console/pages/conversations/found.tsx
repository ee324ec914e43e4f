import type { FoundMessage } from '../../../../services/messages/search.ts';
import { Handle, monogram, Rows, Time } from '../../components/rows.tsx';
import { Empty } from '../../components/content.tsx';
import type { Conversation } from '../../../../services/threads/conversations.ts';
import { conversationAddress } from './filters.tsx';
import { titleOf } from './rows.tsx';

interface FoundMessagesProps {
  found: readonly FoundMessage[];
  /** Those of the messages. */
  conversations: readonly Conversation[];
  /** The search, for the list beside a result that is opened. */
  query: Readonly<Record<string, string>>;
  open: OpenMessage | undefined;
}

/** A message that a page names. */
export interface OpenMessage {
  thread_id: string;
  at: number | null;
}

/** Messages that match a search, with links to their places in the conversations. */
export function FoundMessages({ found, conversations, query, open }: FoundMessagesProps) {
  if (found.length === 0)
    return <Empty title="No message matches">A message must have all words. Try fewer of them.</Empty>;
  const titles = new Map(conversations.map((each) => [each.id, titleOf(each)]));
  const rows = found.map(({ message, snippet }) => ({
    key: message.id,
    mark: monogram(message.sender_handle),
    title: (
      <a
        href={`${conversationAddress(message.thread_id)}?${new URLSearchParams({ at: String(message.sequence), ...query }).toString()}#${message.id}`}
        aria-current={
          open?.thread_id === message.thread_id && open.at === message.sequence ? 'true' : undefined
        }
      >
        <bdi>{titles.get(message.thread_id)}</bdi>
        <span class="visually-hidden">, message {message.sequence}</span>
      </a>
    ),
    text: (
      <>
        <Handle of={message.sender_handle} /> · <Time at={message.created_at} />
        <p class="preview">
          <Snippet text={snippet} />
        </p>
      </>
    ),
  }));
  return <Rows label="Search results" rows={rows} />;
}

/** Matches are between pairs of asterisks. */
function Snippet({ text }: { text: string }) {
  return (
    <bdi>
      {text.split('**').map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
    </bdi>
  );
}
