import type { Database } from '../../src/platform/database/database.ts';

export interface TableSize {
  name: string;
  rows: number;
  /** Including indexes and TOAST; for a partitioned table, the sum of all partitions. */
  bytes: number;
}

const sizes = `select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::bigint as bytes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')
  group by 1 order by 1`;

/** All tables of the service with their row counts and sizes. */
export async function readTableSizes(database: Database): Promise<TableSize[]> {
  const tables = await database.query<{ name: string; bytes: number }>({ text: sizes }, []);
  const counted: TableSize[] = [];
  for (const { name, bytes } of tables) {
    const text = `select count(*) as rows from ${name}`;
    const [row] = await database.query<{ rows: number }>({ text }, []);
    counted.push({ name, rows: row?.rows ?? 0, bytes });
  }
  return counted;
}
