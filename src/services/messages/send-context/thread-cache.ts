import { LRUCache } from 'lru-cache';
import type { ExchangeRow, LockedThread, WriterAudience } from '../../../repositories/messages/batches.ts';

/** What the sends in a thread depend on, as this process read or committed it last. */
export interface CachedThread {
  thread: LockedThread;
  /** By agent id of the writer. */
  audiences: ReadonlyMap<string, WriterAudience>;
  exchanges: readonly ExchangeRow[];
}

/** The state of a thread after the commit of a transaction. */
export interface CommittedThread extends Pick<CachedThread, 'thread' | 'exchanges'> {
  /** The audiences that the transaction has read; none if it relied on the cache. */
  audiences: readonly WriterAudience[];
  /** When the transaction began, in milliseconds. */
  now: number;
}

interface Entry {
  thread: LockedThread;
  exchanges: readonly ExchangeRow[];
  audiences: Map<string, WriterAudience>;
  /** When each audience was read, in milliseconds. */
  readTimes: Map<string, number>;
  /** Whether a transaction that is not committed yet relies on it. */
  isReserved: boolean;
  /** How often in a row the thread was as this process had left it. */
  matches: number;
  /** The matches that it takes until sends rely on the entry. */
  required: number;
}

/** Bounds the effect of a change by a process of the previous release, which does not raise the relation version. */
const maxAgeMs = 5_000;
/** About 10 MB: in ids of members, with the equivalent of some ids for a thread and for an audience. */
const maxSize = 100_000;
const sizes = { thread: 20, audience: 10, exchange: 5 };
const maxRequired = 256;
/** More exchanges of a thread than these are not kept. */
const maxExchanges = 64;

/** hit: a transaction relied on the cached thread. miss: it read. stale: it read, because one that relied on the cached thread had failed. */
export type Outcome = 'hit' | 'miss' | 'stale';

/**
 * Caches threads between two sends. In a thread in which several processes write, transactions that rely on this would fail often, so its
 * sends soon read first again.
 * @param onThread called for each thread of each commit
 */
export function createThreadCache(onThread: (outcome: Outcome) => void) {
  const entries = new LRUCache<string, Entry>({
    maxSize,
    sizeCalculation: ({ audiences, exchanges }) =>
      sizes.thread +
      sizes.audience * audiences.size +
      sizes.exchange * exchanges.length +
      (firstOf(audiences)?.member_ids.length ?? 0),
  });

  return {
    /**
     * Returns these threads for sends of their writers at `now` (ms), or null if one must be read. None is returned a second time until
     * `store` has updated it.
     * @param isEnough a further condition of each thread
     */
    reserve(
      writersOf: ReadonlyMap<string, readonly string[]>,
      now: number,
      isEnough: (thread: CachedThread, writerIds: readonly string[]) => boolean = () => true,
    ): CachedThread[] | null {
      const found: Entry[] = [];
      for (const [threadId, writerIds] of writersOf) {
        const entry = entries.get(threadId);
        if (!entry || entry.isReserved || entry.matches < entry.required) return null;
        const isFresh = (id: string) => now - (entry.readTimes.get(id) ?? -Infinity) < maxAgeMs;
        if (!writerIds.every(isFresh) || !isEnough(entry, writerIds)) return null;
        found.push(entry);
      }
      for (const entry of found) entry.isReserved = true;
      return found.map((entry) => {
        const writerIds = new Set(writersOf.get(entry.thread.id));
        return { ...entry, audiences: new Map([...entry.audiences].filter(([id]) => writerIds.has(id))) };
      });
    },

    /** Compares a thread that was read and locked, and one of its audiences, with what is cached of them. */
    compare(
      { id, last_sequence }: Pick<LockedThread, 'id' | 'last_sequence'>,
      audience: WriterAudience | undefined,
    ): void {
      const entry = entries.peek(id);
      const cached = entry && firstOf(entry.audiences);
      if (!cached || !audience) return;
      const isAsLeft = entry.thread.last_sequence === last_sequence && hasSameMembers(cached, audience);
      entry.matches = isAsLeft ? entry.matches + 1 : 0;
      if (!isAsLeft) entry.required = Math.min(maxRequired, Math.max(1, entry.required * 2));
    },

    /** Keeps the state of a thread after a commit. */
    store({ thread, exchanges, audiences, now }: CommittedThread): void {
      const before = entries.peek(thread.id);
      if (audiences.length === 0) onThread('hit');
      else onThread(before?.isReserved ? 'stale' : 'miss');
      if (before && before.thread.last_sequence > thread.last_sequence) return; // an older commit, answered later
      const entry = before ?? createEntry(thread);
      entry.isReserved = false;
      entry.thread = thread;
      entry.exchanges = exchanges.length > maxExchanges ? [] : exchanges;
      for (const audience of audiences) addAudience(entry, audience, now);
      if (audiences.length === 0) {
        entry.matches += 1;
        entry.required = Math.floor(entry.required / 2);
      }
      entries.set(thread.id, { ...entry }); // a copy: the cache counts the size of the same object only once
    },

    clear: () => entries.clear(),
  };
}

function createEntry(thread: LockedThread): Entry {
  const empty = { exchanges: [], audiences: new Map(), readTimes: new Map() };
  return { thread, ...empty, isReserved: false, matches: 0, required: 0 };
}

/** Audiences of other versions, or of other members, are dropped. All audiences of a thread share their lists. */
function addAudience({ audiences, readTimes }: Entry, audience: WriterAudience, now: number): void {
  const cached = firstOf(audiences);
  const isSame = cached !== undefined && hasSameMembers(cached, audience);
  if (!isSame) {
    audiences.clear();
    readTimes.clear();
  }
  const { member_ids, relation_versions } = isSame ? cached : audience;
  audiences.set(audience.agent_id, { ...audience, member_ids, relation_versions });
  readTimes.set(audience.agent_id, now);
}

function firstOf(audiences: ReadonlyMap<string, WriterAudience>): WriterAudience | undefined {
  for (const audience of audiences.values()) return audience;
  return undefined;
}

/** Whether the members are the same, and their relations have the same versions. */
function hasSameMembers(one: WriterAudience, other: WriterAudience): boolean {
  return isEqual(one.member_ids, other.member_ids) && isEqual(one.relation_versions, other.relation_versions);
}

function isEqual(one: readonly unknown[], other: readonly unknown[]): boolean {
  return one.length === other.length && one.every((value, at) => value === other[at]);
}
