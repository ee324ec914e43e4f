import type { ExchangeRow, LockedThread } from '../../repositories/messages/batches.ts';
import { exchangeWindowMs, type Limit } from '../../../packages/core/src/domain/limits.ts';
import { checkLoop, nextExchanges } from '../../../packages/core/src/policies/loops.ts';
import type { ThreadState } from '../../work/send-context.ts';
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

/** A thread without added messages. */
export function startProgress({ thread, exchanges }: ThreadState): ThreadProgress {
  return {
    thread: { ...thread },
    marks: new Map(),
    storedExchanges: new Map(exchanges.map((exchange) => [toPairKey(exchange), exchange])),
    countedExchanges: new Map(),
  };
}

/** The exchanges that are known after the added messages. */
export function listExchanges({ storedExchanges, countedExchanges }: ThreadProgress): ExchangeRow[] {
  return [...new Map([...storedExchanges, ...countedExchanges]).values()];
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
  limit: Limit,
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

/** Two agents, the lesser id first. */
export type Pair = Pick<ExchangeRow, 'one_id' | 'other_id'>;

export function toPair(one: string, other: string): Pair {
  return one < other ? { one_id: one, other_id: other } : { one_id: other, other_id: one };
}

export const toPairKey = ({ one_id, other_id }: Pair): string => `${one_id} ${other_id}`;
