import { LRUCache } from 'lru-cache';
import type { ExchangeRow, LockedThread, WriterAudience } from '../repositories/messages/batches.ts';

/** What the sends in a thread depend on, as this process read or committed it last. */
export interface KnownThread {
  thread: LockedThread;
  /** By agent id of the writer. */
  audiences: ReadonlyMap<string, WriterAudience>;
  exchanges: readonly ExchangeRow[];
}

/** The state of a thread after the commit of a transaction. */
export interface CommittedThread extends Pick<KnownThread, 'thread' | 'exchanges'> {
  /** The audiences that the transaction has read; none if it relied on the memory. */
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
  /** Whether a transaction relies on it that is not committed yet. */
  isTaken: boolean;
  /** How often in a row this process found the thread as it had left it. */
  streak: number;
  /** The streak from which on sends rely on the entry. */
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

/** How a transaction got what the sends in a thread depend on. `wrong`: it read, because one that relied on the memory had failed. */
export type ThreadSource = 'memory' | 'read' | 'wrong';

export type KnownThreads = ReturnType<typeof createKnownThreads>;

/**
 * Remembers threads between two sends, so that the next send reads nothing first: its transaction fails if another one has changed what it
 * relies on. In a thread in which several processes write this would fail often, so its sends soon read first again.
 * @param onCommit called for each thread of each commit
 */
export function createKnownThreads(onCommit: (source: ThreadSource) => void) {
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
     * Returns the memory of a thread, for sends of these agents at `now` (ms), or null if they must read it. It is not returned a second
     * time until `remember` has updated it.
     */
    take(thread_id: string, writer_ids: readonly string[], now: number): KnownThread | null {
      const entry = entries.get(thread_id);
      if (!entry || entry.isTaken || entry.streak < entry.required) return null;
      const isFresh = (id: string) => now - (entry.readTimes.get(id) ?? -Infinity) < maxAgeMs;
      if (!writer_ids.every(isFresh)) return null;
      entry.isTaken = true;
      return entry;
    },

    /** Compares a thread that was read and locked, and one of its audiences, with the memory of them. */
    observe(
      { id, last_sequence }: Pick<LockedThread, 'id' | 'last_sequence'>,
      audience: WriterAudience | undefined,
    ): void {
      const entry = entries.peek(id);
      const known = entry && firstOf(entry.audiences);
      if (!known || !audience) return;
      const isAsLeft = entry.thread.last_sequence === last_sequence && hasSameMembers(known, audience);
      entry.streak = isAsLeft ? entry.streak + 1 : 0;
      if (!isAsLeft) entry.required = Math.min(maxRequired, Math.max(1, entry.required * 2));
    },

    /** Keeps the state of a thread after a commit. */
    remember({ thread, exchanges, audiences, now }: CommittedThread): void {
      const before = entries.peek(thread.id);
      if (audiences.length === 0) onCommit('memory');
      else onCommit(before?.isTaken ? 'wrong' : 'read');
      if (before && before.thread.last_sequence > thread.last_sequence) return; // an older commit, answered later
      const entry = before ?? createEntry(thread);
      entry.isTaken = false;
      entry.thread = thread;
      entry.exchanges = exchanges.length > maxExchanges ? [] : exchanges;
      for (const audience of audiences) addAudience(entry, audience, now);
      if (audiences.length === 0) {
        entry.streak += 1;
        entry.required = Math.floor(entry.required / 2);
      }
      entries.set(thread.id, { ...entry }); // a copy: the cache counts the size of the same object only once
    },
  };
}

function createEntry(thread: LockedThread): Entry {
  const empty = { exchanges: [], audiences: new Map(), readTimes: new Map() };
  return { thread, ...empty, isTaken: false, streak: 0, required: 0 };
}

/** Audiences of other versions, or of other members, are dropped. All audiences of a thread share their lists. */
function addAudience({ audiences, readTimes }: Entry, audience: WriterAudience, now: number): void {
  const known = firstOf(audiences);
  const isSame = known !== undefined && hasSameMembers(known, audience);
  if (!isSame) {
    audiences.clear();
    readTimes.clear();
  }
  const { member_ids, relation_versions } = isSame ? known : audience;
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
