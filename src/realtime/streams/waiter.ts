import type { Actor } from '../../domain/auth/actor.ts';
import type { Listener } from './registry.ts';
import type { StreamEnd } from '../contract.ts';

export interface Waiter extends Listener {
  /** A read begins, and only rings from here on count; answers the largest number heard of before. */
  beginRead(): number;
  /** A read has ended here. */
  moveTo(position: number): void;
  /** Resolves at the first ring beyond the position, or when there is no more to wait for. The deadline is an epoch time. */
  wait(deadline: number, signal: AbortSignal | undefined): Promise<'rung' | 'late' | StreamEnd>;
}

/** A caller that waits for its feed to grow. */
export function createWaiter(actor: Actor, start: number): Waiter {
  let position = start;
  let heard = 0;
  let ended: StreamEnd | undefined;
  let wake: (() => void) | undefined;

  function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(done, ms);
      signal?.addEventListener('abort', done);
      wake = done;
      function done(): void {
        wake = undefined;
        clearTimeout(timer);
        signal?.removeEventListener('abort', done);
        resolve();
      }
    });
  }

  return {
    actor,
    transport: 'poll',
    position: () => position,
    beginRead() {
      const before = heard;
      heard = 0;
      return before;
    },
    moveTo(next) {
      position = next;
    },
    notify(number) {
      heard = Math.max(heard, number);
      if (heard > position) wake?.();
    },
    end(reason) {
      ended = reason;
      wake?.();
    },
    async wait(deadline, signal) {
      // By this clock a timer may fire within the last millisecond before its time: a token would not have ended yet.
      const ms = Math.min(deadline, actor.expires_at) - Date.now() + 1;
      if (ms > 1 && !ended && heard <= position && !signal?.aborted) await sleep(ms, signal);
      const now = Date.now();
      if (now >= actor.expires_at) return 'token_ended';
      if (ended) return ended;
      return heard > position && now < deadline && !signal?.aborted ? 'rung' : 'late';
    },
  };
}
