import type { LockedThread } from '../../repositories/messages/batches.ts';
import type { ExchangeRow } from '../../repositories/messages/batches.ts';
import { exchangeWindowMs, type LoopLimit } from '../../../packages/core/src/domain/limits.ts';
import { checkLoop, nextExchanges } from '../../../packages/core/src/policies/loops.ts';
import type { Work } from '../../work/unit-of-work.ts';

type Batches = Work['db']['messageBatches'];
type SenderMark = Parameters<Batches['append']>[0]['marks'][number];

/** A locked thread, while the messages of a batch are added to it. */
export interface ThreadProgress {
  /** As it is after the last added message. */
  thread: LockedThread;
  /** By sender of the added messages. */
  marks: Map<string, SenderMark>;
  storedExchanges: ReadonlyMap<string, ExchangeRow>;
  /** Exchanges that the added messages have changed. */
  countedExchanges: Map<string, ExchangeRow>;
}

/** A thread without added messages. `exchanges` may include those of other threads. */
export function startProgress(thread: LockedThread, exchanges: readonly ExchangeRow[]): ThreadProgress {
  const own = exchanges.filter(({ thread_id }) => thread_id === thread.id);
  return {
    thread: { ...thread },
    marks: new Map(),
    storedExchanges: new Map(own.map((exchange) => [toPairKey(exchange), exchange])),
    countedExchanges: new Map(),
  };
}

/** The exchanges that are known after the added messages. */
export function listExchanges({ storedExchanges, countedExchanges }: ThreadProgress): ExchangeRow[] {
  return [...new Map([...storedExchanges, ...countedExchanges]).values()];
}

/** Whether the exchanges are known that messages of these senders, in this order, can count. */
export function knowsExchanges(
  { thread, exchanges }: { thread: LockedThread; exchanges: readonly ExchangeRow[] },
  sender_ids: readonly string[],
): boolean {
  const known = new Set(exchanges.map(toPairKey));
  return sender_ids.every((sender_id, at) => {
    const last = at === 0 ? thread.last_sender_id : sender_ids[at - 1];
    return !last || last === sender_id || known.has(toPairKey(toPair(sender_id, last)));
  });
}

/** Adds a message. @returns its sequence */
export function addMessage(progress: ThreadProgress, sender_id: string, created_at: number): number {
  const { thread } = progress;
  const sequence = thread.last_sequence + 1;
  thread.last_sequence = sequence;
  thread.last_message_at = created_at;
  thread.updated_at = Math.max(thread.updated_at, created_at);
  thread.last_sender_id = sender_id;
  const after = sequence - 1;
  const first = { thread_id: thread.id, agent_id: sender_id, after, upto: after, own: 0 };
  const mark = progress.marks.get(sender_id) ?? first;
  if (mark.upto === after) mark.upto = sequence;
  mark.own += 1;
  progress.marks.set(sender_id, mark);
  return sequence;
}

/**
 * Counts a quick answer to the last message as an exchange of its two agents, unless the message is refused.
 * @throws {DomainError} RATE_LIMITED
 */
export function countExchange(
  progress: ThreadProgress,
  sender_id: string,
  created_at: number,
  limit: LoopLimit,
): void {
  const { id: thread_id, last_sender_id, last_message_at } = progress.thread;
  if (last_sender_id === null || last_message_at === null || last_sender_id === sender_id) return;
  if (created_at - last_message_at > exchangeWindowMs) return;
  const { one_id, other_id } = toPair(sender_id, last_sender_id);
  const key = toPairKey({ one_id, other_id });
  const before = progress.countedExchanges.get(key) ?? progress.storedExchanges.get(key);
  const counted = nextExchanges(before, limit, created_at);
  const refusal = checkLoop(counted, limit, created_at, { sender_id, recipient_id: last_sender_id });
  if (refusal) throw refusal;
  progress.countedExchanges.set(key, { thread_id, one_id, other_id, ...counted });
}

function toPair(one: string, other: string): Pick<ExchangeRow, 'one_id' | 'other_id'> {
  return one < other ? { one_id: one, other_id: other } : { one_id: other, other_id: one };
}

const toPairKey = ({ one_id, other_id }: Pick<ExchangeRow, 'one_id' | 'other_id'>) => `${one_id} ${other_id}`;
