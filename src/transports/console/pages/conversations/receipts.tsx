import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';

type Receipt = ConversationPage['receipts'][number];

type State = 'handled' | 'read' | 'delivered' | 'stored';

/** Members named one by one; more are counted. */
const maxNamed = 3;

type Marked = Pick<ConversationPage['messages'][number], 'sequence' | 'sender_id'>;

interface ReceiptsProps {
  message: Marked;
  /** The message after it in a run of one sender. Receipts are shown once for messages that got equally far. */
  next: Marked | undefined;
  receipts: readonly Receipt[];
}

/** How far a message got with each other member: stored, delivered, read, or handled in an inbox. */
export function Receipts({ message, next, receipts }: ReceiptsProps) {
  const others = receipts.filter(({ id }) => id !== message.sender_id);
  const marks = others.map((receipt) => ({ receipt, state: stateOf(receipt, message.sequence) }));
  const isSameNext = next && marks.every(({ receipt, state }) => state === stateOf(receipt, next.sequence));
  if (others.length === 0 || isSameNext) return null;
  const shown = marks.map(({ receipt: { id, canonical_handle }, state }) => (
    <span class={`receipt ${state}`} key={id}>
      <span class={others.length === 1 ? 'visually-hidden' : undefined}>@{canonical_handle} </span>
      {state}
    </span>
  ));
  if (others.length <= maxNamed)
    return <p class={others.length === 1 ? 'receipts single' : 'receipts'}>{shown}</p>;
  const count = (wanted: State) => marks.filter(({ state }) => state === wanted).length;
  return (
    <details class="receipts">
      <summary>
        {count('handled') + count('read')} of {others.length} read, {count('handled')} handled,{' '}
        {count('delivered')} delivered
      </summary>
      {shown}
    </details>
  );
}

function stateOf({ handled_sequence, read_sequence, delivered_sequence }: Receipt, sequence: number): State {
  if (handled_sequence >= sequence) return 'handled';
  if (read_sequence >= sequence) return 'read';
  return delivered_sequence >= sequence ? 'delivered' : 'stored';
}
