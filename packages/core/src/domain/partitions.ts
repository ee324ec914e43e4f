import { type IdKind, minIdAt, timeOfId } from './ids.ts';

const dayMs = 24 * 60 * 60 * 1000;

/** Partitioned tables, and the kind of identifier whose time decides the partition. */
export const partitionedTables = {
  events: 'event',
  feed: 'event',
  messages: 'message',
  message_search: 'message',
} as const satisfies Record<string, IdKind>;

export type PartitionedTable = keyof typeof partitionedTables;

/** The range of identifiers in a partition: from the first (inclusive) to the second (exclusive). */
export interface PartitionRange {
  from: string;
  to: string;
}

export interface Partition {
  table: PartitionedTable;
  name: string;
  /** Null for the first partition, which holds everything before its end. */
  from: string | null;
  to: string;
}

/** The length in days when retention is unlimited. */
const defaultLengthDays = 90;

/** The maximum time for which partitions exist ahead, in days. */
const maxDaysAhead = 7;

/**
 * The length of a partition in days: a quarter of the retention. So the number of partitions stays small, since each one costs every query
 * that does not know the time, and old data stays for at most another quarter.
 */
export function partitionLength(retentionDays: number | undefined): number {
  return retentionDays === undefined ? defaultLengthDays : Math.ceil(retentionDays / 4);
}

/**
 * The partitions to create after the last one, until enough exist ahead of now. They end at midnight UTC.
 * @param end the end of the last partition.
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

/** The end of the last partition of each partitioned table, in milliseconds since the epoch. */
export function coveredUntil(partitions: readonly Partition[]): Map<PartitionedTable, number> {
  const until = new Map<PartitionedTable, number>();
  for (const { table, to } of partitions) {
    until.set(table, Math.max(timeOfId(to), until.get(table) ?? 0));
  }
  return until;
}

/** The first midnight after which no process still writes into the previous day, with a day of tolerance for clocks. */
export function nextWholeDay(now: number): number {
  return (Math.floor(now / dayMs) + 2) * dayMs;
}
