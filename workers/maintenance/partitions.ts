import { system } from '../../packages/core/src/domain/auth/audit.ts';
import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../../src/compose.ts';
import { minIdAt } from '../../packages/core/src/domain/ids.ts';
import {
  coveredUntil,
  nextWholeDay,
  type Partition,
  type PartitionedTable,
  partitionedTables,
  partitionLength,
  planPartitions,
} from '../../packages/core/src/domain/partitions.ts';

export type PartitionCore = Pick<Core, 'db' | 'unitOfWork' | 'logger'>;

/** Feeds or threads per statement. */
const seriesPerStatement = 200;

/** Attempts at a schema change; the pause lets transactions that wait for its lock continue. */
const maxAttempts = 5;
const retryPauseMs = 1_000;

/** Retries a schema change that other transactions block. Returns undefined if all attempts failed; the next run tries again. */
async function retryTableChange<T>({ logger }: PartitionCore, description: string, change: () => Promise<T>) {
  for (let left = maxAttempts; left > 0; left -= 1) {
    try {
      return await change();
    } catch (error) {
      const log = left === 1 ? logger.warn.bind(logger) : logger.debug.bind(logger);
      log({ err: error }, `${description} failed; it will be retried`);
    }
    if (left > 1) await pause(retryPauseMs);
  }
  return undefined;
}

/**
 * Creates the partitions of the coming days for every partitioned table. A missing partition is not fatal: its rows go to the default
 * partition.
 * @param options `now` in milliseconds; `retentionDays` is undefined if rows are kept forever.
 */
export async function makePartitions(
  core: PartitionCore,
  { now, retentionDays }: { now: number; retentionDays: Record<PartitionedTable, number | undefined> },
): Promise<void> {
  const { db, unitOfWork } = core;
  for (const [table, until] of coveredUntil(await db.partitions.list())) {
    const kind = partitionedTables[table];
    const size = { now, length: partitionLength(retentionDays[table]) };
    const createFrom = async (end: number) => {
      for (const range of planPartitions(kind, minIdAt(kind, end), size)) {
        const insert = () => unitOfWork.write(system, (work) => work.db.partitions.insert(table, range));
        const isCreated = await retryTableChange(core, `creating a partition of ${table}`, insert);
        if (isCreated !== true) return isCreated;
      }
      return true;
    };
    // If the default partition already holds rows of the range, new partitions begin the next day.
    if ((await createFrom(until)) === false) await createFrom(nextWholeDay(now));
  }
}

/** Drops the partitions of a table that end at or before this id, except the last one. */
export async function dropPartitions(
  core: PartitionCore,
  table: PartitionedTable,
  olderThan: string,
): Promise<void> {
  const all = (await core.db.partitions.list()).filter((partition) => partition.table === table);
  for (const partition of all.slice(0, -1).filter(({ to }) => to <= olderThan)) {
    await closeGap(core, partition);
    const drop = () => core.unitOfWork.write(system, (work) => work.db.partitions.remove(partition));
    await retryTableChange(core, `dropping ${partition.name}`, drop);
  }
}

/**
 * Prepares feeds or threads for the removal of a partition. If clocks differed, earlier rows of a feed or thread can be in other
 * partitions; they are removed up to its last row in this partition, so that no gap remains. Removed messages count as read.
 */
async function closeGap({ db }: PartitionCore, partition: Partition): Promise<void> {
  const { partitions, threadMembers } = db;
  const { table } = partition;
  if (table !== 'feed' && table !== 'messages') return;
  for (let after = '', more = true; more;) {
    const ends = await partitions.listEnds({ ...partition, table }, after, seriesPerStatement);
    const mixed = await partitions.listMixed({ ...partition, table }, ends);
    if (mixed.length > 0) await partitions.removeUpTo(table, mixed);
    if (table === 'messages') {
      await threadMembers.markRemovedAsRead(ends.map(({ id, last }) => ({ thread_id: id, sequence: last })));
    }
    after = ends.at(-1)?.id ?? after;
    more = ends.length === seriesPerStatement;
  }
}
