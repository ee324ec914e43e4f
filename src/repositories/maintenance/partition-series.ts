import type { Partition } from '../../../packages/core/src/domain/partitions.ts';
import { query, type Queryable, unpreparedStatement } from '../queryable.ts';

/** The column by which each table is partitioned. */
export const partitionKeys = {
  events: 'id',
  feed: 'event_id',
  messages: 'id',
  message_search: 'message_id',
} as const;

/** Tables whose rows are numbered without gaps, with the column of the series and the column of the number. */
const seriesColumns = {
  feed: { series: 'agent_id', number: 'number' },
  messages: { series: 'thread_id', number: 'sequence' },
} as const;

export type SeriesTable = keyof typeof seriesColumns;

/** The last number of a series in a partition. */
interface SeriesEnd {
  id: string;
  last: number;
}

/** An id as an SQL literal: DDL takes no parameters. */
export function idLiteral(id: string): string {
  if (!/^[a-z]+_[0-9A-Z]{26}$/.test(id)) throw new Error(`${id} is not an id`);
  return `'${id}'`;
}

function toColumns(ends: readonly SeriesEnd[]) {
  return { ids: ends.map(({ id }) => id), last: ends.map(({ last }) => last) };
}

/** Series of numbered rows across partitions: a part of the partitions repository. */
export function partitionSeriesQueries(db: Queryable) {
  return {
    /** The next series of a partition after this one, by id, each with its last number there. */
    listEnds({ table, name }: Partition & { table: SeriesTable }, after: string, limit: number) {
      const { series, number } = seriesColumns[table];
      const next = (previous: string) =>
        `select ${series} from ${name} where ${series} > ${previous} order by ${series} limit 1`;
      return query<SeriesEnd>(
        db,
        unpreparedStatement(
          `with recursive found (id, place) as (
             (select ${series}, 1 from (${next(':after')}) n)
             union all select n.${series}, place + 1 from found cross join lateral (${next('found.id')}) n where place < :limit
           )
           select id, (select ${number} from ${name} where ${series} = found.id order by ${number} desc limit 1) as last from found order by id`,
        ),
        { after, limit },
      );
    },

    /** Those of these series that have earlier numbers in other partitions, because the clocks of processes differed. */
    listMixed(
      { table, from, to }: Partition & { table: SeriesTable },
      ends: readonly SeriesEnd[],
    ): Promise<SeriesEnd[]> {
      const [{ series, number }, key] = [seriesColumns[table], partitionKeys[table]];
      const before = from === null ? '' : `${key} < ${idLiteral(from)} or `;
      return query<SeriesEnd>(
        db,
        unpreparedStatement(
          `select e.id, e.last from unnest(:ids::text[], :last::bigint[]) e (id, last)
           cross join lateral (
             select from ${table} where ${series} = e.id and ${number} < e.last and (${before}${key} >= ${idLiteral(to)}) limit 1) r`,
        ),
        toColumns(ends),
      );
    },

    /** Removes the rows of these series up to their last numbers, from all partitions. */
    async removeUpTo(table: SeriesTable, ends: readonly SeriesEnd[]): Promise<void> {
      const { series, number } = seriesColumns[table];
      const text = `delete from ${table} t using unnest(:ids::text[], :last::bigint[]) e (id, last)
        where t.${series} = e.id and t.${number} <= e.last`;
      await query(db, unpreparedStatement(text), toColumns(ends));
    },
  };
}
