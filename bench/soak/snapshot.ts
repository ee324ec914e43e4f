import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import type { Core } from '../../src/compose.ts';
import type { Environment } from '../environment.ts';
import { readResidentBytes } from '../streams/resident-memory.ts';

/** Memory of each part of the service, in MB (1,000,000 bytes). */
export interface MemoryUsage {
  api: number;
  worker: number;
  /** Private memory of its processes. Shared memory has a fixed size and is not counted. */
  postgres: number;
  /** Null without Redis. */
  redis: number | null;
}

/** State of the service at one moment under load. */
export interface Snapshot {
  memory_mb: MemoryUsage;
  /** Waiting and active jobs. */
  queued: number;
  /** Jobs in the outbox. */
  outbox: number;
}

/** Reads memory, queues and outbox. @throws where there is no /proc. */
export async function takeSnapshot(
  environment: Environment,
  { repositories, queues }: Core,
): Promise<Snapshot> {
  const { api, worker } = environment.pids;
  const memory_mb = {
    api: toMegabytes(readResidentBytes(api)),
    worker: toMegabytes(readResidentBytes(worker)),
    postgres: toMegabytes(readPostgresBytes(environment.postgres_folder)),
    redis: await readRedisMegabytes(environment.env['REDIS_URL']),
  };
  const depths = await queues.depths();
  const queued = depths.reduce((total, { waiting, active }) => total + waiting + active, 0);
  return { memory_mb, queued, outbox: (await repositories.outbox.readAge()).rows };
}

function readPostgresBytes(folder: string): number {
  const postmaster = Number(readFileSync(join(folder, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
  const all = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return all.reduce((total, pid) => total + readPrivateBytes(pid, postmaster), 0);
}

/** Private memory of a process of this server (RssAnon); 0 for any other process. */
function readPrivateBytes(pid: string, postmaster: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    const field = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0);
    return field('PPid') === postmaster || Number(pid) === postmaster ? field('RssAnon') * 1_024 : 0;
  } catch {
    return 0; // the process ended in the meantime
  }
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
