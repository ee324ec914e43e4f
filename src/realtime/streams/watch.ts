import type { Bus } from '../../platform/bus/bus.ts';
import type { Work } from '../../work/unit-of-work.ts';
import type { StreamRegistry, Listener } from './registry.ts';

export interface PollIntervals {
  /** Milliseconds between two looks at the feeds while the bus works, and, always, between two looks at the tokens. */
  healthy_ms: number;
  /** The same while rings may be lost; also how often the bus is asked, expiries and the tokens of new members are checked. */
  unhealthy_ms: number;
}

export interface WatchParts {
  feed: Pick<Work['feed'], 'readCounters'>;
  bus: Pick<Bus, 'isHealthy'>;
  channels: StreamRegistry;
  intervals: PollIntervals;
  /** Which of these tokens, named as in `Actor.token_id`, are still good. */
  listValidTokens(tokenIds: readonly string[]): Promise<ReadonlySet<string>>;
  log(message: string, error: unknown): void;
}

export interface Watch {
  close(): void;
}

/**
 * What backs up the bus: looks from time to time whether the feed of any agent has grown, all of them in one query, and
 * whose token is no longer good, in another. Its rhythm is uneven on purpose, so that processes do not ask in step.
 */
export function startWatch({ feed, bus, channels, intervals, listValidTokens, log }: WatchParts): Watch {
  let nextPoll = Date.now() + addJitter(intervals.healthy_ms);
  let nextCheck = nextPoll;
  /** Whose token was found good since they joined: it may have ended between its check at the door and that. */
  const checked = new WeakSet<Listener>();
  let checking = false;
  let checkFaults = 0;
  let lossy = false;
  let polling = false;
  let faults = 0;
  let timer = setTimeout(tick, addJitter(intervals.unhealthy_ms)).unref();

  function tick(): void {
    timer = setTimeout(tick, addJitter(intervals.unhealthy_ms)).unref();
    const now = Date.now();
    for (const member of channels.listeners()) if (member.actor.expires_at <= now) member.end('token_ended');
    const wasLossy = lossy;
    lossy = !bus.isHealthy();
    // Once more after the bus is back: a ring may have been lost just before.
    if (!polling && (lossy || wasLossy || now >= nextPoll)) void poll();
    if (!checking) void check();
  }

  /** Looks at the tokens of new members, and of all when it is time. What cannot be looked up ends nobody. */
  async function check(): Promise<void> {
    const due = Date.now() >= nextCheck;
    const members = [...channels.listeners()].filter((member) => due || !checked.has(member));
    if (due) nextCheck = Date.now() + addJitter(intervals.healthy_ms);
    if (members.length === 0) return;
    checking = true;
    try {
      const good = await listValidTokens([...new Set(members.map(({ actor }) => actor.token_id))]);
      for (const member of members) {
        if (good.has(member.actor.token_id)) checked.add(member);
        else member.end('token_ended');
      }
      checkFaults = 0;
    } catch (error) {
      nextCheck = 0;
      checkFaults += 1;
      if (checkFaults === 1) log('the tokens of open streams cannot be checked', error);
    } finally {
      checking = false;
    }
  }

  async function poll(): Promise<void> {
    polling = true;
    nextPoll = Date.now() + addJitter(intervals.healthy_ms);
    try {
      channels.repair();
      const seen = new Map<string, { members: Iterable<Listener>; furthest: number }>();
      for (const [agentId, members] of channels.byAgent()) {
        const furthest = Math.max(...Array.from(members, (member) => member.position()));
        seen.set(agentId, { members, furthest });
      }
      if (seen.size > 0) {
        for (const { agent_id, last_number } of await feed.readCounters([...seen.keys()])) {
          const { members = [], furthest = 0 } = seen.get(agent_id) ?? {};
          if (last_number < furthest) endBeyond(members, last_number);
          else channels.notify(agent_id, last_number);
        }
      }
      faults = 0;
    } catch (error) {
      faults += 1;
      if (faults === 1) log('the feeds cannot be polled', error);
    } finally {
      polling = false;
    }
  }

  /** Readers stand behind the end of the feed: the database was restored. They come back and are told of the gap. */
  function endBeyond(members: Iterable<Listener>, last: number): void {
    for (const member of members) if (member.position() > last) member.end('failed');
    log(`a feed went back to number ${last}; its streams were ended`, undefined);
  }

  return { close: () => clearTimeout(timer) };
}

function addJitter(ms: number): number {
  return ms * (0.75 + Math.random() / 2);
}
