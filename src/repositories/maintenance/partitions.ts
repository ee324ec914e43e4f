import {
  type Partition,
  type PartitionedTable,
  partitionedTables,
  type PartitionRange,
} from '../../domain/partitions.ts';
import { timeOfId } from '../../domain/ids.ts';
import { unpreparedStatement, type Queryable, statement } from '../queryable.ts';

const keys = { events: 'id', feed: 'event_id', messages: 'id', message_search: 'message_id' } as const;

/** In which order the rows of whom were written, where that is counted without a hole. */
const series = {
  feed: { of: 'agent_id', by: 'number' },
  messages: { of: 'thread_id', by: 'sequence' },
} as const;

export type SeriesTable = keyof typeof series;

/** How far a series goes in a partition. */
export interface SeriesEnd {
  id: string;
  last: number;
}

/** More than so many rows are not moved out of the default partition: nobody could read it meanwhile. */
const maxMovedRows = 10_000;

/** Those who wait behind a change of tables wait no longer than this, in milliseconds. */
const lockTimeoutMs = 300;
const advisoryLockId = 7_310_552_902;

const statements = {
  list: statement(
    'partitions.list',
    `select p.relname as table, c.relname as name, substring(b.bounds from $r$^FOR VALUES FROM \\('([^']+)'\\)$r$) as from,
       substring(b.bounds from $r$ TO \\('([^']+)'\\)$r$) as to
     from pg_class p join pg_inherits i on i.inhparent = p.oid join pg_class c on c.oid = i.inhrelid
     cross join lateral (select pg_get_expr(c.relpartbound, c.oid)) b (bounds)
     where p.oid in (select to_regclass(t) from unnest($1::text[]) t) and p.relkind = 'p' and b.bounds <> 'DEFAULT'
     order by p.relname, substring(b.bounds from ' TO .*') collate "C"`,
  ),
  /** Both end with the transaction. */
  begin: statement(
    'partitions.begin',
    `select set_config('lock_timeout', $1, true), set_config('statement_timeout', '10s', true)`,
  ),
  lock: statement('partitions.lock', 'select pg_advisory_xact_lock($1)'),
  targets: statement(
    'partitions.targets',
    `select attname as column, attstattarget as target from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attstattarget > 0`,
  ),
};

/** A name that no caller had a part in. */
function partitionName(table: PartitionedTable, { from }: PartitionRange): string {
  return `${table}_${new Date(timeOfId(from)).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

function literal(id: string): string {
  if (!/^[a-z]+_[0-9A-Z]{26}$/.test(id)) throw new Error(`${id} is no identifier`);
  return `'${id}'`;
}

/** Tables in partitions by time. The statements that change tables belong in a transaction of their own, which others wait for. */
export function partitionsRepository(db: Queryable) {
  const run = (text: string) => db.query(unpreparedStatement(text), []);

  async function list(): Promise<Partition[]> {
    return db.query<Partition>(statements.list, [Object.keys(partitionedTables)]);
  }

  return {
    /** Without the default ones; each table's in the order of time. None of a table that has none. */
    list,

    /**
     * Makes a partition. Rows that stood in its place lie in the default one, and are moved.
     * @returns false when they are too many, and nothing was made.
     * @throws when others hold the tables for longer than callers should wait.
     */
    async insert(table: PartitionedTable, range: PartitionRange): Promise<boolean> {
      const [key, name] = [keys[table], partitionName(table, range)];
      const within = `${key} >= ${literal(range.from)} and ${key} < ${literal(range.to)}`;
      await db.query(statements.begin, [`${lockTimeoutMs}ms`]);
      await db.query(statements.lock, [advisoryLockId]);
      const others = (await list()).filter((partition) => partition.table === table);
      if (others.some(({ from, to }) => (from ?? '') < range.to && to > range.from)) return true;
      const misplaced = await run(`select from ${table}_default where ${within} limit ${maxMovedRows + 1}`);
      if (misplaced.length > maxMovedRows) return false;
      await run(`create table ${name} (like ${table}_default including all)`);
      const targets = await db.query<{ column: string; target: number }>(statements.targets, [
        `${table}_default`,
      ]);
      for (const { column, target } of targets) {
        await run(`alter table ${name} alter column ${column} set statistics ${target}`);
      }
      if (misplaced.length > 0) {
        await run(
          `with moved as (delete from ${table}_default where ${within} returning *) insert into ${name} select * from moved`,
        );
      }
      await run(
        `alter table ${table} attach partition ${name} for values from (${literal(range.from)}) to (${literal(range.to)})`,
      );
      return true;
    },

    /**
     * Drops a partition with all that is in it.
     * @throws when others hold the table for longer than callers should wait.
     */
    async remove({ name }: Partition): Promise<void> {
      await db.query(statements.begin, [`${lockTimeoutMs}ms`]);
      await db.query(statements.lock, [advisoryLockId]);
      await run(`drop table if exists ${name}`);
    },

    /** Whether the default partition holds anything older. */
    async hasStrays(table: PartitionedTable, olderThan: string): Promise<boolean> {
      const text = `select from ${table}_default where ${keys[table]} < ${literal(olderThan)} limit 1`;
      return (await run(text)).length > 0;
    },

    /** The next series after this one in a partition, in the order of their ids, each with its last number there. */
    listEnds({ table, name }: Partition & { table: SeriesTable }, after: string, limit: number) {
      const { of, by } = series[table];
      const next = (behind: string) =>
        `select ${of} from ${name} where ${of} > ${behind} order by ${of} limit 1`;
      return db.query<SeriesEnd>(
        unpreparedStatement(
          `with recursive found (id, place) as (
             (select ${of}, 1 from (${next('$1')}) n)
             union all select n.${of}, place + 1 from found cross join lateral (${next('found.id')}) n where place < $2
           )
           select id, (select ${by} from ${name} where ${of} = found.id order by ${by} desc limit 1) as last from found order by id`,
        ),
        [after, limit],
      );
    },

    /** Those of these series of which other partitions hold what was written before their ends: the clocks differed. */
    listMixed(
      partition: Partition & { table: SeriesTable },
      ends: readonly SeriesEnd[],
    ): Promise<SeriesEnd[]> {
      const { table, from, to } = partition;
      const [{ of, by }, key] = [series[table], keys[table]];
      const before = from === null ? '' : `${key} < ${literal(from)} or `;
      return db.query<SeriesEnd>(
        unpreparedStatement(
          `select e.id, e.last from unnest($1::text[], $2::bigint[]) e (id, last)
           cross join lateral (
             select from ${table} where ${of} = e.id and ${by} < e.last and (${before}${key} >= ${literal(to)}) limit 1) r`,
        ),
        columnsOf(ends),
      );
    },

    /** Removes these series up to there, from every partition. */
    async removeUpTo(table: SeriesTable, ends: readonly SeriesEnd[]): Promise<void> {
      const { of, by } = series[table];
      const text = `delete from ${table} t using unnest($1::text[], $2::bigint[]) e (id, last)
        where t.${of} = e.id and t.${by} <= e.last`;
      await db.query(unpreparedStatement(text), columnsOf(ends));
    },
  };
}

function columnsOf(ends: readonly SeriesEnd[]): [string[], number[]] {
  return [ends.map(({ id }) => id), ends.map(({ last }) => last)];
}
