import { forEachWakeup, wakeupsTopic } from '../../packages/core/src/domain/feed/wakeups.ts';
import type { Bus } from '../platform/bus/bus.ts';
import { createWakeableSleep } from './streams/wakeable-sleep.ts';

/** Learns that feeds have something new, without reading them: its agents are neither online nor sent anything. */
export interface FeedWatcher {
  /** Replaces the agents whose feeds are watched. Without effect after `close`. */
  follow(agentIds: readonly string[]): void;
  /**
   * Resolves at a wake-up of a followed agent, after `ms`, or at the abort of the signal; at once after a wake-up since the last call. A
   * wake-up is a hint: it may be late, duplicated or missing.
   */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  close(): void;
}

export interface FeedWatch {
  open(): FeedWatcher;
}

/** Watches feeds of this service's agents for pages of people. One bus subscription serves all watchers of the process. */
export function createFeedWatch(bus: Pick<Bus, 'subscribe'>): FeedWatch {
  const watchers = new Map<string, Set<() => void>>();
  let unsubscribe: (() => void) | undefined;
  const subscribe = () =>
    bus.subscribe(wakeupsTopic, (body) =>
      forEachWakeup(body, (agentId) => watchers.get(agentId)?.forEach((onNews) => onNews())),
    );

  function unfollow(agentIds: Iterable<string>, onNews: () => void): void {
    for (const id of agentIds) {
      const callbacks = watchers.get(id);
      if (callbacks?.delete(onNews) === true && callbacks.size === 0) watchers.delete(id);
    }
  }

  return {
    open() {
      unsubscribe ??= subscribe();
      const { sleep, wake } = createWakeableSleep();
      let hasNews = false;
      const onNews = () => {
        hasNews = true;
        wake();
      };
      let followed = new Set<string>();
      let isClosed = false;
      return {
        follow(agentIds) {
          if (isClosed) return;
          const next = new Set(agentIds);
          unfollow(
            [...followed].filter((id) => !next.has(id)),
            onNews,
          );
          for (const id of next) {
            const callbacks = watchers.get(id) ?? new Set();
            watchers.set(id, callbacks.add(onNews));
          }
          followed = next;
        },
        async wait(ms, signal) {
          if (!hasNews && !signal.aborted) await sleep(ms, signal);
          hasNews = false;
        },
        close() {
          isClosed = true;
          unfollow(followed, onNews);
        },
      };
    },
  };
}
