import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';

type Receipt = ConversationPage['receipts'][number];

type State = 'handled' | 'read' | 'delivered' | 'stored';

/** Members named one by one; more are counted. */
const maxNamed = 3;

interface ReceiptsProps {
  message: { sequence: number; sender_id: string };
  receipts: readonly Receipt[];
}

/** How far a message got with each other member: stored, delivered, read, or handled in an inbox. */
export function Receipts({ message, receipts }: ReceiptsProps) {
  const others = receipts.filter(({ id }) => id !== message.sender_id);
  if (others.length === 0) return null;
  const marks = others.map((receipt) => ({ receipt, state: stateOf(receipt, message.sequence) }));
  if (others.length <= maxNamed)
    return (
      <p class="receipts">
        {marks.map(({ receipt, state }) => (
          <Mark key={receipt.id} state={state} text={`@${receipt.canonical_handle} ${state}`} />
        ))}
      </p>
    );
  const count = (wanted: State) => marks.filter(({ state }) => state === wanted).length;
  return (
    <details class="receipts">
      <summary>
        {count('handled') + count('read')} of {others.length} read, {count('handled')} handled,{' '}
        {count('delivered')} delivered
      </summary>
      {marks.map(({ receipt, state }) => (
        <Mark key={receipt.id} state={state} text={`@${receipt.canonical_handle} ${state}`} />
      ))}
    </details>
  );
}

function Mark({ state, text }: { state: State; text: string }) {
  return <span class={`receipt ${state}`}>{text}</span>;
}

function stateOf({ handled_sequence, read_sequence, delivered_sequence }: Receipt, sequence: number): State {
  if (handled_sequence >= sequence) return 'handled';
  if (read_sequence >= sequence) return 'read';
  return delivered_sequence >= sequence ? 'delivered' : 'stored';
}
