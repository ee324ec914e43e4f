import type { ShownDelivery } from '../../../../packages/core/src/domain/tasks.ts';
import type { ConversationPage } from '../../../services/threads/conversation-page.ts';

type Receipt = ConversationPage['receipts'][number];

type State = ShownDelivery;

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
  const reasons = failures.map(({ message: text }) => <bdi key={text}>{text}</bdi>);
  const [only] = marks;
  if (marks.length === 1 && only)
    return (
      <p class="receipts">
        <Mark {...only} isOnly />
        {reasons}
      </p>
    );
  return (
    <details class="receipts" open={failures.length > 0}>
      <summary>{summarize(marks.map(({ state }) => state))}</summary>
      {marks.map((mark) => (
        <Mark {...mark} key={mark.receipt.id} />
      ))}
      {reasons}
    </details>
  );
}

function Mark({ receipt, state, isOnly = false }: { receipt: Receipt; state: State; isOnly?: boolean }) {
  return (
    <span class={`receipt ${state}`}>
      <span class={isOnly ? 'visually-hidden' : undefined}>@{receipt.canonical_handle} </span>
      {state}
    </span>
  );
}

/** From the farthest to the nearest. */
const steps = ['handled', 'read', 'delivered'] as const;

/** The farthest state of one of these, with their number: "1 of 2 read". */
function summarize(states: readonly State[]): string {
  const reached = (from: State) =>
    states.filter((state) => steps.some((step) => step === state) && rank(state) <= rank(from)).length;
  const step = steps.find((each) => states.includes(each));
  if (step === undefined) return states.every((state) => state === states[0]) ? (states[0] ?? '') : 'stored';
  return `${reached(step)} of ${states.length} ${step}`;
}

const rank = (state: State) => steps.findIndex((step) => step === state);

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
