import { onTestFinished, vi } from 'vitest';
import { createCursors } from '../../../src/work/cursors.ts';
import { createFeedWatch } from '../../../src/realtime/feed-watch.ts';
import { createRealtime, type RealtimeParts } from '../../../src/realtime/create.ts';
import { createLocalBus } from './local-bus.ts';
import { createMemoryFeed } from './memory-feed.ts';

/** A realtime over a feed in memory, with short intervals. It closes with the test. */
export function setUp(changes: Partial<RealtimeParts> = {}) {
  const memory = createMemoryFeed();
  const { bus, notify, state, topics } = createLocalBus();
  const cursors = createCursors(['test']);
  const logEntries: string[] = [];
  const realtime = createRealtime({
    feed: memory.feed,
    presence: { insert: async () => {}, update: async () => true, remove: async () => {} },
    bus,
    watch: createFeedWatch(bus),
    listReadAgents: async (agentId) => [agentId],
    cursors,
    log: (message) => void logEntries.push(message),
    listValidTokens: async (ids) => new Set(ids),
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
  return { realtime, memory, notify, bus: state, topics, here, cursors, logged: logEntries };
}

/** Waits until `check` no longer throws; generous, because the machine may be busy. */
export function waitUntil(check: () => void): Promise<void> {
  return vi.waitFor(check, { timeout: 10_000, interval: 5 });
}
