import type { Actor } from '../../../packages/core/src/domain/auth/actor.ts';
import { DomainError } from '../../../packages/core/src/domain/errors.ts';
import type { Listener } from './registry.ts';
import type { StreamEnd } from '../contract.ts';
import { createWakeableSleep } from './wakeable-sleep.ts';
import { steadyNow } from '../../shared/clock.ts';

export const tokenEnded = () => new DomainError('UNAUTHORIZED', 'The access token has ended. Get a new one.');

export interface Waiter extends Listener {
  /** Begins a read. Returns the largest entry number announced so far; only later notifications end the next wait. */
  beginRead(): number;
  /** Sets the position that a read has reached. */
  moveTo(position: number): void;
  /** Resolves at the first notification beyond the position, or when the wait is over. `deadline` is an epoch time. */
  wait(deadline: number, signal: AbortSignal | undefined): Promise<'notified' | 'timeout' | StreamEnd>;
}

/** A request that waits for its feed to grow. */
export function createWaiter(actor: Actor, start: number): Waiter {
  let position = start;
  let notifiedNumber = 0;
  let ended: StreamEnd | undefined;
  const { sleep, wake } = createWakeableSleep();

  return {
    actor,
    transport: 'poll',
    position: () => position,
    beginRead() {
      const number = notifiedNumber;
      notifiedNumber = 0;
      return number;
    },
    moveTo(next) {
      position = next;
    },
    notify(number) {
      notifiedNumber = Math.max(notifiedNumber, number);
      if (notifiedNumber > position) wake();
    },
    end(reason) {
      ended = reason;
      wake();
    },
    async wait(deadline, signal) {
      // One millisecond more: timers may fire slightly early, before the token has expired.
      const ms = Math.min(deadline, actor.expires_at) - steadyNow() + 1;
      if (ms > 1 && !ended && notifiedNumber <= position && !signal?.aborted) await sleep(ms, signal);
      const now = steadyNow();
      if (now >= actor.expires_at) return 'token_ended';
      if (ended) return ended;
      return notifiedNumber > position && now < deadline && !signal?.aborted ? 'notified' : 'timeout';
    },
  };
}
