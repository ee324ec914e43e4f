import { onTestFinished, vi } from 'vitest';
import { createCursors } from '../../../src/domain/cursors.ts';
import { createRealtime, type RealtimeParts } from '../../../src/realtime/create.ts';
import { localBus } from './local-bus.ts';
import { memoryFeed } from './memory-feed.ts';

/** A realtime over a feed in memory, with short intervals. It closes with the test. */
export function setUp(changes: Partial<RealtimeParts> = {}) {
  const memory = memoryFeed();
  const { bus, ring, state, topics } = localBus();
  const cursors = createCursors('test');
  const logged: string[] = [];
  const realtime = createRealtime({
    feed: memory.feed,
    presence: { insert: async () => {}, update: async () => true, remove: async () => {} },
    bus,
    cursors,
    log: (message) => void logged.push(message),
    goodTokens: async (ids) => new Set(ids),
    intervals: { healthy_ms: 100_000, unhealthy_ms: 20 },
    linger_ms: 10,
    ...changes,
  });
  onTestFinished(() => realtime.close());
  /** The agents of all streams and waiting callers. */
  function here(): string[] {
    const agents: string[] = [];
    realtime.revoke(({ agent_id }) => {
      agents.push(agent_id);
      return false;
    });
    return agents;
  }
  return { realtime, memory, ring, bus: state, topics, here, cursors, logged };
}

/** Waits until `check` no longer throws; generous, because the machine may be busy. */
export function eventually(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 5 });
}
