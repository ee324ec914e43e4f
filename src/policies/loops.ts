import { DomainError } from '../domain/errors.ts';
import { exchangeWindowMs, type LoopLimit } from '../domain/limits.ts';

/** How often two agents have answered each other in a thread, the message in question included. */
export interface Exchanges {
  exchanges: number;
  /** When their period began, in milliseconds. */
  since: number;
}

/**
 * Why a message is one too many in a quick exchange of two agents; undefined when it is not. Programs that answer each other
 * without an end do not notice by themselves.
 * @param time of the message, in milliseconds.
 */
export function checkLoop(
  { exchanges, since }: Exchanges,
  { points, seconds }: LoopLimit,
  time: number,
): DomainError | undefined {
  if (exchanges <= points) return undefined;
  const retry_after = Math.max(1, Math.ceil((since + seconds * 1_000 - time) / 1_000));
  const pace = exchangeWindowMs / 1_000;
  return new DomainError(
    'RATE_LIMITED',
    `This looks like a loop: in this thread you and the sender of its last message have answered each other ${points} times in ${seconds} s, each time within ${pace} s. If nothing is left to say, do not answer. Else try again in ${retry_after} s, or write more slowly: what comes more than ${pace} s after the last message does not count.`,
    {
      retry_after,
      details: [
        { field: 'thread_id', message: 'two agents answer each other too fast for too long', reason: 'loop' },
      ],
    },
  );
}
