import {
  type Partition,
  type PartitionedTable,
  partitionedTables,
  type PartitionRange,
} from '../../../packages/core/src/domain/partitions.ts';
import { timeOfId } from '../../../packages/core/src/domain/ids.ts';
import { query, type Queryable, statement, unpreparedStatement } from '../queryable.ts';
import { idLiteral, partitionKeys, partitionSeriesQueries } from './partition-series.ts';

/** More rows than this are not moved out of the default partition: it cannot be read while they are moved. */
const maxMovedRows = 10_000;

/** Statements that wait for a table change wait at most this long. */
const lockTimeoutMs = 300;
const advisoryLockId = 7_310_552_902;

const statements = {
  list: statement(
    'partitions.list',
    `select p.relname as table, c.relname as name, substring(b.bounds from $r$^FOR VALUES FROM \\('([^']+)'\\)$r$) as from,
       substring(b.bounds from $r$ TO \\('([^']+)'\\)$r$) as to
     from pg_class p join pg_inherits i on i.inhparent = p.oid join pg_class c on c.oid = i.inhrelid
     cross join lateral (select pg_get_expr(c.relpartbound, c.oid)) b (bounds)
     where p.oid in (select to_regclass(t) from unnest(:tables::text[]) t) and p.relkind = 'p' and b.bounds <> 'DEFAULT'
     order by p.relname, substring(b.bounds from ' TO .*') collate "C"`,
  ),
  /** Both settings end with the transaction. */
  setTimeouts: statement(
    'partitions.set_timeouts',
    `select set_config('lock_timeout', :lock_timeout, true), set_config('statement_timeout', '10s', true)`,
  ),
  lock: statement('partitions.lock', 'select pg_advisory_xact_lock(:lock_id)'),
  listStatisticsTargets: statement(
    'partitions.list_statistics_targets',
    `select attname as column, attstattarget as target from pg_attribute
     where attrelid = :table::regclass and attnum > 0 and not attisdropped and attstattarget > 0`,
  ),
};

/** The name of a partition, made from its table and first day only. */
function partitionName(table: PartitionedTable, { from }: PartitionRange): string {
  return `${table}_${new Date(timeOfId(from)).toISOString().slice(0, 10).replaceAll('-', '')}`;
}

/**
 * Tables partitioned by time. `insert` and `remove` change tables while others wait: run each in a transaction of its own. They throw
 * when others hold the table locks for longer than `lockTimeoutMs`.
 */
export function partitionsRepository(db: Queryable) {
  const run = (text: string) => query(db, unpreparedStatement(text), {});

  function list(): Promise<Partition[]> {
    return query<Partition>(db, statements.list, { tables: Object.keys(partitionedTables) });
  }

  async function lockTables(): Promise<void> {
    await query(db, statements.setTimeouts, { lock_timeout: `${lockTimeoutMs}ms` });
    await query(db, statements.lock, { lock_id: advisoryLockId });
  }

  /** Creates a table like the default partition, with the same statistics targets. */
  async function createTable(table: PartitionedTable, name: string): Promise<void> {
    await run(`create table ${name} (like ${table}_default including all)`);
    const targets = await query<{ column: string; target: number }>(db, statements.listStatisticsTargets, {
      table: `${table}_default`,
    });
    for (const { column, target } of targets) {
      await run(`alter table ${name} alter column ${column} set statistics ${target}`);
    }
  }

  return {
    ...partitionSeriesQueries(db),

    /** All partitions but the default ones, per table in the order of time. */
    list,

    /**
     * Creates a partition and moves its rows there from the default partition.
     * @returns false when there are too many such rows; nothing is created then.
     */
    async insert(table: PartitionedTable, range: PartitionRange): Promise<boolean> {
      const [key, name] = [partitionKeys[table], partitionName(table, range)];
      const [from, to] = [idLiteral(range.from), idLiteral(range.to)];
      const isInRange = `${key} >= ${from} and ${key} < ${to}`;
      await lockTables();
      const others = (await list()).filter((partition) => partition.table === table);
      if (others.some((other) => (other.from ?? '') < range.to && other.to > range.from)) return true;
      const misplaced = await run(
        `select from ${table}_default where ${isInRange} limit ${maxMovedRows + 1}`,
      );
      if (misplaced.length > maxMovedRows) return false;
      await createTable(table, name);
      if (misplaced.length > 0) {
        await run(
          `with moved as (delete from ${table}_default where ${isInRange} returning *) insert into ${name} select * from moved`,
        );
      }
      await run(`alter table ${table} attach partition ${name} for values from (${from}) to (${to})`);
      return true;
    },

    /** Drops a partition and its rows. */
    async remove({ name }: Partition): Promise<void> {
      await lockTables();
      await run(`drop table if exists ${name}`);
    },

    /** Whether the default partition has rows with older ids. */
    async hasRowsInDefault(table: PartitionedTable, olderThan: string): Promise<boolean> {
      const text = `select from ${table}_default where ${partitionKeys[table]} < ${idLiteral(olderThan)} limit 1`;
      return (await run(text)).length > 0;
    },
  };
}
