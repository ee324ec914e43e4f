import { system } from '../../packages/core/src/domain/auth/audit.ts';
import type { Core } from '../../src/compose.ts';
import { minIdAt } from '../../packages/core/src/domain/ids.ts';
import { type PartitionedTable, partitionedTables } from '../../packages/core/src/domain/partitions.ts';

export const dayMs = 24 * 3_600_000;
export const partitionedTableNames = Object.keys(partitionedTables) as PartitionedTable[];

/**
 * Gives a service that has stored nothing yet partitions between these days, counted from today; the first one goes.
 * @returns when today began, in milliseconds.
 */
export async function createPartitions(core: Core, days: readonly number[]): Promise<number> {
  const midnight = Math.floor(Date.now() / dayMs) * dayMs;
  for (const table of partitionedTableNames) {
    await core.database.query({ text: `drop table ${table}_first` }, []);
    const at = (count: number) => minIdAt(partitionedTables[table], midnight + count * dayMs);
    for (const [index, from] of days.slice(0, -1).entries()) {
      const range = { from: at(from), to: at(days[index + 1] ?? 0) };
      await core.unitOfWork.write(system, (work) => work.db.partitions.insert(table, range));
    }
  }
  return midnight;
}

/** An identifier made so many days ago; `number` tells those of one moment apart. */
export function idDaysAgo(kind: 'event' | 'message', daysAgo: number, number = 0): string {
  return `${minIdAt(kind, Date.now() - daysAgo * dayMs).slice(0, -4)}${String(number).padStart(4, '0')}`;
}
