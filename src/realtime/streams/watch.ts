import type { Bus } from '../../platform/bus/bus.ts';
import type { Work } from '../../work/unit-of-work.ts';
import type { StreamRegistry, Listener } from './registry.ts';
import { steadyNow } from '../../shared/clock.ts';

export interface PollIntervals {
  /** Milliseconds between two polls of the feeds while the bus is healthy, and between two checks of all tokens. */
  healthy_ms: number;
  /** Milliseconds between two polls while wake-ups may be lost, and between two checks of bus health, expiry and new tokens. */
  unhealthy_ms: number;
}

export interface WatchParts {
  feed: Pick<Work['db']['feed'], 'readCounters'>;
  bus: Pick<Bus, 'isHealthy'>;
  registry: StreamRegistry;
  intervals: PollIntervals;
  /** The valid ones of these tokens (`Actor.token_id`). */
  listValidTokens(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;
  log(message: string, error: unknown): void;
}

export interface Watch {
  close(): void;
}

/**
 * The fallback for wake-ups and revocations that the bus drops: polls the counters of all feeds with one query, and checks all
 * tokens with another. Jitter keeps processes from polling at the same moment.
 */
export function startWatch({ feed, bus, registry, intervals, listValidTokens, log }: WatchParts): Watch {
  let nextPoll = steadyNow() + addJitter(intervals.healthy_ms);
  let wasUnhealthy = false;
  let isPolling = false;
  let failures = 0;
  const checkTokens = createTokenCheck({ registry, intervals, listValidTokens, log }, nextPoll);
  let timer = setTimeout(tick, addJitter(intervals.unhealthy_ms)).unref();

  function tick(): void {
    timer = setTimeout(tick, addJitter(intervals.unhealthy_ms)).unref();
    const now = steadyNow();
    for (const listener of registry.listeners())
      if (listener.actor.expires_at <= now) listener.end('token_ended');
    const isUnhealthy = !bus.isHealthy();
    // Polls once more after the bus has recovered: a wake-up may have been lost just before.
    if (!isPolling && (isUnhealthy || wasUnhealthy || now >= nextPoll)) void poll();
    wasUnhealthy = isUnhealthy;
    checkTokens();
  }

  async function poll(): Promise<void> {
    isPolling = true;
    nextPoll = steadyNow() + addJitter(intervals.healthy_ms);
    try {
      const agents = new Map<string, { listeners: Iterable<Listener>; maxPosition: number }>();
      for (const [agentId, listeners] of registry.byAgent()) {
        const maxPosition = Math.max(...Array.from(listeners, (listener) => listener.position()));
        agents.set(agentId, { listeners, maxPosition });
      }
      if (agents.size > 0) {
        for (const { agent_id, last_number } of await feed.readCounters([...agents.keys()])) {
          const { listeners = [], maxPosition = 0 } = agents.get(agent_id) ?? {};
          if (last_number < maxPosition) endBeyond(listeners, last_number);
          else registry.notify(agent_id, last_number);
        }
      }
      failures = 0;
    } catch (error) {
      failures += 1;
      if (failures === 1) log('cannot poll the feeds', error);
    } finally {
      isPolling = false;
    }
  }

  /** The database was restored to a state before the position of these listeners. They reconnect and get a gap. */
  function endBeyond(listeners: Iterable<Listener>, lastNumber: number): void {
    for (const listener of listeners) if (listener.position() > lastNumber) listener.end('failed');
    log(`a feed went back to entry ${lastNumber}; its streams were ended`, undefined);
  }

  return { close: () => clearTimeout(timer) };
}

type TokenCheckParts = Pick<WatchParts, 'registry' | 'intervals' | 'listValidTokens' | 'log'>;

/**
 * Returns a function that starts a check unless one is running: of all tokens from `firstCheck` (of `steadyNow`) on, then once
 * per `healthy_ms`; of the tokens of new listeners at every call. An error of the lookup ends no stream.
 */
function createTokenCheck(
  { registry, intervals, listValidTokens, log }: TokenCheckParts,
  firstCheck: number,
): () => void {
  let nextCheck = firstCheck;
  /** Listeners whose token was valid after they joined: it may have ended between authentication and that. */
  const checked = new WeakSet<Listener>();
  let isChecking = false;
  let failures = 0;

  async function check(): Promise<void> {
    const isDue = steadyNow() >= nextCheck;
    const listeners = [...registry.listeners()].filter((listener) => isDue || !checked.has(listener));
    if (isDue) nextCheck = steadyNow() + addJitter(intervals.healthy_ms);
    if (listeners.length === 0) return;
    isChecking = true;
    try {
      const valid = await listValidTokens([...new Set(listeners.map(({ actor }) => actor.token_id))]);
      for (const listener of listeners) {
        if (valid.has(listener.actor.token_id)) checked.add(listener);
        else listener.end('token_ended');
      }
      failures = 0;
    } catch (error) {
      nextCheck = 0;
      failures += 1;
      if (failures === 1) log('cannot check the tokens of open streams', error);
    } finally {
      isChecking = false;
    }
  }

  return () => {
    if (!isChecking) void check();
  };
}

function addJitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
