import { setTimeout as pause } from 'node:timers/promises';
import type { Core } from '../../src/compose.ts';
import { minIdAt } from '../../src/domain/ids.ts';
import {
  coveredUntil,
  nextWholeDay,
  type Partition,
  type PartitionedTable,
  partitionedTables,
  partitionLength,
  planPartitions,
} from '../../src/domain/partitions.ts';

export type PartitionCore = Pick<Core, 'repositories' | 'unitOfWork' | 'logger'>;

/** Series looked at in one statement. */
const seriesPerStatement = 200;

/** A change of tables is tried so often, with this pause in ms: meanwhile those who waited behind it go on. */
const maxAttempts = 5;
const retryPauseMs = 1_000;

/** Tries until it is done; what others hold for longer is left to the next run. */
async function retryTableChange<T>({ logger }: PartitionCore, what: string, change: () => Promise<T>) {
  for (let left = maxAttempts; left > 0; left -= 1) {
    try {
      return await change();
    } catch (error) {
      const log = left === 1 ? logger.warn.bind(logger) : logger.debug.bind(logger);
      log({ err: error }, `${what} was not possible; it will be tried again`);
    }
    if (left > 1) await pause(retryPauseMs);
  }
  return undefined;
}

/**
 * Makes the partitions of the coming days, of every table that has any. Without them nothing fails: what belongs in a partition that
 * is not there lies in the default one until it is made.
 * @param kept for how many days rows are kept; undefined: for good.
 */
export async function makePartitions(
  core: PartitionCore,
  { now, kept }: { now: number; kept: Record<PartitionedTable, number | undefined> },
): Promise<void> {
  const { repositories, unitOfWork } = core;
  for (const [table, until] of coveredUntil(await repositories.partitions.list())) {
    const kind = partitionedTables[table];
    const size = { now, length: partitionLength(kept[table]) };
    const make = async (end: number) => {
      for (const range of planPartitions(kind, minIdAt(kind, end), size)) {
        const insert = () => unitOfWork.writeAsSystem((work) => work.partitions.insert(table, range));
        const made = await retryTableChange(core, `a partition of ${table}`, insert);
        if (made !== true) return made;
      }
      return true;
    };
    // When nobody has made any for long, the default one has filled: it keeps what it has, and they go on behind it.
    if ((await make(until)) === false) await make(nextWholeDay(now));
  }
}

/** Drops the partitions of a table that end at this id or before it, but never its last one. */
export async function dropPartitions(
  core: PartitionCore,
  table: PartitionedTable,
  olderThan: string,
): Promise<void> {
  const all = (await core.repositories.partitions.list()).filter((partition) => partition.table === table);
  for (const partition of all.slice(0, -1).filter(({ to }) => to <= olderThan)) {
    await closeGap(core, partition);
    const drop = () => core.unitOfWork.writeAsSystem((work) => work.partitions.remove(partition));
    await retryTableChange(core, `dropping ${partition.name}`, drop);
  }
}

/**
 * Rows of a series lie in the order of its numbers, but for those of processes whose clocks differed. A series whose rows of other
 * partitions come before its last one in this leaves up to there: so that it has no hole when the partition is gone. Nobody has
 * unread messages that are gone.
 */
async function closeGap({ repositories }: PartitionCore, partition: Partition): Promise<void> {
  const { partitions, threadMembers } = repositories;
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
