import type { ShownDelivery } from '../../../../../packages/core/src/domain/tasks.ts';
import type { ConversationPage } from '../../../../services/threads/conversation-page.ts';

type Receipt = ConversationPage['receipts'][number];

type State = ShownDelivery;

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
  const failures = others.flatMap((receipt) => findFailure(receipt, message.sequence)?.error ?? []);
  if (others.length === 0 || (isSameNext && failures.length === 0)) return null;
  const shown = marks.map(({ receipt: { id, canonical_handle }, state }) => (
    <span class={`receipt ${state}`} key={id}>
      <span class={others.length === 1 ? 'visually-hidden' : undefined}>@{canonical_handle} </span>
      {state}
    </span>
  ));
  if (others.length <= maxNamed)
    return (
      <p class={others.length === 1 ? 'receipts single' : 'receipts'}>
        {shown}
        {failures.map(({ message: text }) => (
          <bdi key={text}>{text}</bdi>
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
      {shown}
    </details>
  );
}

/** Why an agent of another system did not get a message. Its answer is data of a stranger. */
const findFailure = ({ remote }: Receipt, wanted: number) =>
  remote?.undelivered.find(({ sequence }) => sequence === wanted);

function stateOf(receipt: Receipt, sequence: number): State {
  const { handled_sequence, read_sequence, delivered_sequence, remote } = receipt;
  const failure = findFailure(receipt, sequence);
  if (failure) return failure.outcome;
  if (sequence >= (remote?.sending_from_sequence ?? Infinity)) return 'sending';
  if (handled_sequence >= sequence) return 'handled';
  if (read_sequence >= sequence) return 'read';
  return delivered_sequence >= sequence ? 'delivered' : 'stored';
}
