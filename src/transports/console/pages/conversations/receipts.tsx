import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';

type Receipt = ConversationPage['receipts'][number];

type State = 'read' | 'delivered' | 'stored';

const stateTexts: Record<State, string> = { read: 'read', delivered: 'delivered', stored: 'stored' };

/** Members named one by one; more are counted. */
const maxNamed = 3;

interface ReceiptsProps {
  message: { sequence: number; sender_id: string };
  receipts: readonly Receipt[];
}

/** How far a message got with each other member: stored, delivered or read. */
export function Receipts({ message, receipts }: ReceiptsProps) {
  const others = receipts.filter(({ id }) => id !== message.sender_id);
  if (others.length === 0) return null;
  const marks = others.map((receipt) => ({ receipt, state: stateOf(receipt, message.sequence) }));
  if (others.length <= maxNamed)
    return (
      <p class="receipts">
        {marks.map(({ receipt, state }) => (
          <Mark key={receipt.id} state={state} text={`@${receipt.canonical_handle} ${stateTexts[state]}`} />
        ))}
      </p>
    );
  const count = (wanted: State) => marks.filter(({ state }) => state === wanted).length;
  return (
    <details class="receipts">
      <summary>
        {count('read')} of {others.length} read, {count('delivered')} delivered
      </summary>
      {marks.map(({ receipt, state }) => (
        <Mark key={receipt.id} state={state} text={`@${receipt.canonical_handle} ${stateTexts[state]}`} />
      ))}
    </details>
  );
}

function Mark({ state, text }: { state: State; text: string }) {
  return <span class={`receipt ${state}`}>{text}</span>;
}

function stateOf({ read_sequence, delivered_sequence }: Receipt, sequence: number): State {
  if (read_sequence >= sequence) return 'read';
  return delivered_sequence >= sequence ? 'delivered' : 'stored';
}
