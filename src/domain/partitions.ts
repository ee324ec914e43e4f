import { type IdKind, minIdAt, timeOfId } from './ids.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Tables in partitions by time, and by the time of which identifiers. */
export const partitionedTables = {
  events: 'event',
  feed: 'event',
  messages: 'message',
  message_search: 'message',
} as const satisfies Record<string, IdKind>;

export type PartitionedTable = keyof typeof partitionedTables;

/** What a partition holds: identifiers from the first on, below the second. */
export interface PartitionRange {
  from: string;
  to: string;
}

export interface Partition {
  table: PartitionedTable;
  name: string;
  /** Null for the first one, which holds everything before its end. */
  from: string | null;
  to: string;
}

/** Without an end of what is kept, in days. */
const defaultLengthDays = 90;

/** The longest time for which partitions are there ahead, in days. */
const maxDaysAhead = 7;

/**
 * How long a partition is, in days. A quarter of what is kept: there are few of them however long that is, since each costs every
 * read that does not know the time, and what is old stays for a quarter longer at most.
 */
export function partitionLength(keptDays: number | undefined): number {
  return keptDays === undefined ? defaultLengthDays : Math.ceil(keptDays / 4);
}

/**
 * The partitions to make behind the last one, until there are enough ahead of now. Their ends are midnights (UTC).
 * @param end where the last one ends.
 * @param length in days.
 */
export function planPartitions(
  kind: IdKind,
  end: string,
  { now, length }: { now: number; length: number },
): PartitionRange[] {
  const ranges: PartitionRange[] = [];
  const enough = now + Math.min(maxDaysAhead, 3 * length) * dayMs;
  for (let from = timeOfId(end); from < enough;) {
    const to = (Math.floor(from / dayMs) + length) * dayMs;
    ranges.push({ from: minIdAt(kind, from), to: minIdAt(kind, to) });
    from = to;
  }
  return ranges;
}

/** Until when there are partitions, in milliseconds since the epoch, of each table that has any. */
export function coveredUntil(partitions: readonly Partition[]): Map<PartitionedTable, number> {
  const until = new Map<PartitionedTable, number>();
  for (const { table, to } of partitions) {
    until.set(table, Math.max(timeOfId(to), until.get(table) ?? 0));
  }
  return until;
}

/** The midnight by which everything that was written until now has come to an end, whatever the clocks: within a day. */
export function nextWholeDay(now: number): number {
  return (Math.floor(now / dayMs) + 2) * dayMs;
}
