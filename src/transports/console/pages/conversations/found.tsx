import type { FoundMessage } from '../../../../services/messages/search.ts';
import { Handle, monogram, Rows, Time } from '../../components/rows.tsx';
import { Empty } from '../../components/content.tsx';
import { conversationAddress } from './filters.tsx';

/** Messages that match a search, with links to their places in the conversations. */
export function FoundMessages({ found }: { found: readonly FoundMessage[] }) {
  if (found.length === 0)
    return <Empty title="No message matches">A message must have all words. Try fewer of them.</Empty>;
  const rows = found.map(({ message, snippet }) => ({
    key: message.id,
    mark: monogram(message.sender_handle),
    title: (
      <a href={`${conversationAddress(message.thread_id)}?at=${message.sequence}#${message.id}`}>
        Message {message.sequence} of @{message.sender_handle}
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
  return <Rows label="Found messages" rows={rows} />;
}

/** Matches are between pairs of asterisks. */
function Snippet({ text }: { text: string }) {
  return (
    <bdi>
      {text.split('**').map((part, index) => (index % 2 === 1 ? <mark key={index}>{part}</mark> : part))}
    </bdi>
  );
}
