import type { Core } from '../../src/compose.ts';
import { lowestIdAt } from '../../src/domain/ids.ts';
import { type PartitionedTable, partitionedTables } from '../../src/domain/partitions.ts';

export const day = 24 * 3_600_000;
export const tables = Object.keys(partitionedTables) as PartitionedTable[];

/**
 * Gives a service that has stored nothing yet partitions between these days, counted from today; the first one goes.
 * @returns when today began, in milliseconds.
 */
export async function layOut(core: Core, days: readonly number[]): Promise<number> {
  const midnight = Math.floor(Date.now() / day) * day;
  for (const table of tables) {
    await core.database.query({ text: `drop table ${table}_first` }, []);
    const at = (count: number) => lowestIdAt(partitionedTables[table], midnight + count * day);
    for (const [index, from] of days.slice(0, -1).entries()) {
      const range = { from: at(from), to: at(days[index + 1] ?? 0) };
      await core.unitOfWork.administer((work) => work.partitions.insert(table, range));
    }
  }
  return midnight;
}

/** An identifier made so many days ago; `number` tells those of one moment apart. */
export function idOf(kind: 'event' | 'message', daysAgo: number, number = 0): string {
  return `${lowestIdAt(kind, Date.now() - daysAgo * day).slice(0, -4)}${String(number).padStart(4, '0')}`;
}
