import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfExists } from '../src/embedded/private-file.ts';
import type { Environment } from './environment.ts';

/** CPU milliseconds that each part has used so far. */
export interface CpuTime {
  api: number;
  worker: number;
  postgres: number;
  generator: number;
}

/** Process ids by part. */
export interface ProcessIds {
  api: readonly number[];
  worker: readonly number[];
}

/** The kernel counts in hundredths of a second. */
const tickMs = 10;

/** CPU time of the parts so far, including `others`; null where the system does not report it (Linux does). */
export function readCpuTime(
  { pids, postgres_folder }: Pick<Environment, 'pids' | 'postgres_folder'>,
  others?: ProcessIds,
): CpuTime | null {
  if (process.platform !== 'linux') return null;
  const postmaster = Number(readIfExists(join(postgres_folder, 'postmaster.pid'))?.split('\n', 1)[0]);
  const { user, system } = process.cpuUsage();
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => readProcessStat(Number(name)));
  const of = (part: keyof ProcessIds) =>
    [pids[part], ...(others?.[part] ?? [])].reduce(
      (total, pid) => total + (readProcessStat(pid)?.own_ms ?? 0),
      0,
    );
  const backends = all.filter((stat) => stat?.parent === postmaster);
  const postgres = backends.reduce((total, stat) => total + (stat?.own_ms ?? 0), 0);
  const { ended_ms = 0 } = readProcessStat(postmaster) ?? {};
  return {
    api: of('api'),
    worker: of('worker'),
    postgres: postgres + ended_ms,
    generator: (user + system) / 1000,
  };
}

/** CPU milliseconds that one process has used so far; null where the system does not report it. */
export function readProcessCpuTime(pid: number): number | null {
  return process.platform === 'linux' ? (readProcessStat(pid)?.own_ms ?? null) : null;
}

/** Fields 4 and 14 to 17 of /proc/<pid>/stat, counted after the name in parentheses. */
function readProcessStat(pid: number): { parent: number; own_ms: number; ended_ms: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    const ended_ms = (endedUser + endedSystem) * tickMs;
    return { parent: fields[1] ?? 0, own_ms: (user + system) * tickMs, ended_ms };
  } catch {
    return null; // the process ended in the meantime
  }
}

/** CPU milliseconds per message between two readings. */
export function cpuTimePerMessage(
  before: CpuTime | null,
  after: CpuTime | null,
  messages: number,
): CpuTime | null {
  if (!before || !after || messages === 0) return null;
  const of = (part: keyof CpuTime) => roundCpuTime((after[part] - before[part]) / messages);
  return { api: of('api'), worker: of('worker'), postgres: of('postgres'), generator: of('generator') };
}

/** Rounds milliseconds to microseconds. */
export function roundCpuTime(value: number): number {
  return Math.round(value * 1000) / 1000;
}
