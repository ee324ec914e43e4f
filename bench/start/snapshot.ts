import { Redis } from 'ioredis';
import { listPostgresProcesses, readMemory } from '../load/processes.ts';
import type { Service } from './service.ts';

/** State of the service at one moment under load; memory in MB (1,000,000 bytes). */
export interface Snapshot {
  api_mb: number;
  worker_mb: number;
  /** Private memory of its processes. Shared memory has a fixed size and is not counted. */
  postgres_mb: number;
  /** Null without Redis. */
  redis_mb: number | null;
  /** Waiting and active jobs. */
  queued: number;
  /** Jobs in the outbox. */
  outbox: number;
}

export interface TableSize {
  name: string;
  rows: number;
  /** Including indexes and TOAST; for a partitioned table, the sum of all partitions. */
  bytes: number;
}

/** Reads memory, queues and outbox. @throws where there is no /proc. */
export async function takeSnapshot({
  pids,
  postgres_folder,
  env,
  core,
}: Pick<Service, 'core' | 'env' | 'pids' | 'postgres_folder'>): Promise<Snapshot> {
  const depths = await core.queues.depths();
  return {
    api_mb: toMegabytes(readResidentBytes(pids.api)),
    worker_mb: toMegabytes(readResidentBytes(pids.worker)),
    postgres_mb: toMegabytes(readPostgresBytes(postgres_folder)),
    redis_mb: await readRedisMegabytes(env['REDIS_URL']),
    queued: depths.reduce((total, { waiting, active }) => total + waiting + active, 0),
    outbox: (await core.db.outbox.readAge()).rows,
  };
}

const readResidentBytes = (pids: readonly number[]) =>
  pids.reduce((total, pid) => total + readMemory(pid, 'VmRSS'), 0);

function readPostgresBytes(folder: string): number {
  const { postmaster, backends } = listPostgresProcesses(folder);
  const read = (pid: number) => {
    try {
      return readMemory(pid, 'RssAnon');
    } catch {
      return 0; // the process ended in the meantime
    }
  };
  return [postmaster, ...backends].reduce((total, pid) => total + read(pid), 0);
}

async function readRedisMegabytes(url: string | undefined): Promise<number | null> {
  if (url === undefined) return null;
  const redis = new Redis(url);
  try {
    const bytes = /^used_memory_rss:(\d+)/m.exec(await redis.info('memory'))?.[1];
    return toMegabytes(Number(bytes));
  } finally {
    redis.disconnect();
  }
}

export function toMegabytes(bytes: number): number {
  return Math.round(bytes / 100_000) / 10;
}

const sizes = `select coalesce(pg_partition_root(c.oid), c.oid)::regclass::text as name, sum(pg_total_relation_size(c.oid))::bigint as bytes
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relkind = 'r' and n.nspname not in ('pg_catalog', 'information_schema')
  group by 1 order by 1`;

/** All tables of the service with their row counts and sizes. */
export async function readTableSizes({ database }: Pick<Service, 'database'>): Promise<TableSize[]> {
  const tables = await database.query<{ name: string; bytes: number }>({ text: sizes }, []);
  const counted: TableSize[] = [];
  for (const { name, bytes } of tables) {
    const text = `select count(*) as rows from ${name}`;
    const [row] = await database.query<{ rows: number }>({ text }, []);
    counted.push({ name, rows: row?.rows ?? 0, bytes });
  }
  return counted;
}
