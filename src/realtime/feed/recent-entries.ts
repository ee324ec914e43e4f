import { LRUCache } from 'lru-cache';
import type { FeedEntry } from '../../domain/feed/events.ts';

/** The newest lines of some feeds, as far as this process wrote them itself. */
export interface RecentEntries {
  add(line: FeedEntry): void;
  /** The lines behind a position; undefined when the next one is not among them. */
  after(agentId: string, position: number): readonly FeedEntry[] | undefined;
}

export interface RecentEntriesOptions {
  /** How long lines are good. A database that is restored must not meet lines of its other past. In milliseconds. */
  life_ms: number;
  /** Lines of one agent, at most: whoever is further behind asks the database. */
  entries_per_agent: number;
  /** Maximum number of agents; those with the newest entries stay. */
  agents: number;
}

interface EntryRun {
  /** One number after the other, without a hole. */
  entries: FeedEntry[];
  /** When the last one came. */
  at: number;
}

/**
 * Remembers committed lines for some seconds. The head of a feed is locked from numbering to commit, so a number that is
 * committed stands for one event for good, and all numbers before it are committed too. What others wrote in between is missing
 * here: then the run begins anew behind the hole, and a reader before it finds nothing.
 */
export function createRecentEntries({
  life_ms,
  entries_per_agent,
  agents,
}: RecentEntriesOptions): RecentEntries {
  const runs = new LRUCache<string, EntryRun>({ max: agents });

  return {
    add(line) {
      const now = Date.now();
      const { agent_id, number } = line;
      const known = runs.peek(agent_id);
      const last = known?.entries.at(-1)?.number ?? 0;
      if (known && number <= last && known.at > now - life_ms) return;
      const entries = known && number === last + 1 ? known.entries : [];
      entries.push(line);
      if (entries.length > entries_per_agent) entries.shift();
      runs.set(agent_id, { entries, at: now });
    },
    after(agentId, position) {
      const run = runs.peek(agentId);
      if (!run || run.at <= Date.now() - life_ms) return undefined;
      const first = run.entries[0]?.number ?? 0;
      const skipped = position + 1 - first;
      return skipped >= 0 && skipped < run.entries.length ? run.entries.slice(skipped) : undefined;
    },
  };
}
