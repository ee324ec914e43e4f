import { LRUCache } from 'lru-cache';
import type { FeedEntry } from '../../../packages/core/src/events/feed-event.ts';
import { steadyNow } from '../../shared/clock.ts';

/** The newest feed entries that this process committed or another one relayed. */
export interface RecentEntries {
  add(entry: FeedEntry): void;
  /** The consecutive entries after a position; undefined when the next entry is not cached. */
  after(agentId: string, position: number): readonly FeedEntry[] | undefined;
  clear(): void;
}

export interface RecentEntriesOptions {
  /** How long entries are valid, in milliseconds. Shorter than a database restore, which replaces entries. */
  life_ms: number;
  /** Maximum entries of one agent. Readers that are further behind query the database. */
  entries_per_agent: number;
  /** Maximum number of agents. The agents with the newest entries stay. */
  agents: number;
}

interface EntryRun {
  /** With consecutive numbers. */
  entries: FeedEntry[];
  /** When the last one was added, in epoch milliseconds. */
  updatedAt: number;
}

/**
 * Caches committed entries for some seconds. The counter of a feed is locked from numbering to commit, so a committed number
 * belongs to one event for good, and all smaller numbers are committed too. Some entries of other processes are missing here: the
 * run then starts again after the missing ones, and a reader before them finds nothing.
 */
export function createRecentEntries({
  life_ms,
  entries_per_agent,
  agents,
}: RecentEntriesOptions): RecentEntries {
  const runs = new LRUCache<string, EntryRun>({ max: agents });

  return {
    add(entry) {
      const now = steadyNow();
      const { agent_id, number } = entry;
      const run = runs.peek(agent_id);
      const last = run?.entries.at(-1)?.number ?? 0;
      if (run && number <= last && run.updatedAt > now - life_ms) return;
      const entries = run && number === last + 1 ? run.entries : [];
      entries.push(entry);
      if (entries.length > entries_per_agent) entries.shift();
      runs.set(agent_id, { entries, updatedAt: now });
    },
    after(agentId, position) {
      const run = runs.peek(agentId);
      if (!run || run.updatedAt <= steadyNow() - life_ms) return undefined;
      const first = run.entries[0]?.number ?? 0;
      const skipped = position + 1 - first;
      return skipped >= 0 && skipped < run.entries.length ? run.entries.slice(skipped) : undefined;
    },
    clear: () => runs.clear(),
  };
}
