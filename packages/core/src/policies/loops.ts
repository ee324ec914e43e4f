import { DomainError } from '../domain/errors.ts';
import { exchangeWindowMs, type Limit } from '../domain/limits.ts';

/** How often two agents have answered each other quickly in a thread. */
export interface Exchanges {
  exchanges: number;
  /** The start of the current period, in milliseconds. */
  since: number;
}

/** The exchanges of two agents after one more at `time` (ms). A new period starts when the last one has ended. */
export function nextExchanges(before: Exchanges | undefined, { seconds }: Limit, time: number): Exchanges {
  if (!before || before.since <= time - seconds * 1_000) return { exchanges: 1, since: time };
  return { exchanges: before.exchanges + 1, since: before.since };
}

/**
 * Checks whether two agents answer each other too often: programs do not notice such a loop by themselves.
 * @param exchanges the exchanges, with the message in question.
 * @param time of the message, in milliseconds.
 * @param between the sender of the message, and that of the last one.
 * @returns the refusal (RATE_LIMITED), or undefined
 */
export function checkLoop(
  { exchanges, since }: Exchanges,
  { points, seconds }: Limit,
  time: number,
  between: { sender_id: string; recipient_id: string },
): DomainError | undefined {
  if (exchanges <= points) return undefined;
  const retry_after = Math.max(1, Math.ceil((since + seconds * 1_000 - time) / 1_000));
  const pace = exchangeWindowMs / 1_000;
  return new DomainError(
    'RATE_LIMITED',
    `This looks like a loop: you and the sender of the last message have answered each other ${points} times in ${seconds} s in this thread, each time within ${pace} s. If nothing is left to say, do not answer. Otherwise try again in ${retry_after} s, or write more slowly: a message more than ${pace} s after the last one does not count.`,
    {
      retry_after,
      stopped_loop: between,
      details: [{ field: 'thread_id', message: 'two agents answer each other too often', reason: 'loop' }],
    },
  );
}
