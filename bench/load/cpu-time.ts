import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfExists } from '../../src/embedded/private-file.ts';

/** CPU milliseconds of each part: so far, or for each message. */
export interface CpuTime {
  api: number;
  worker: number;
  postgres: number;
  generator: number;
}

/** The processes of the measured service. */
export interface ServiceProcesses {
  pids: { api: readonly number[]; worker: readonly number[] };
  postgres_folder: string;
}

/** The kernel counts in hundredths of a second. */
const tickMs = 10;

/** CPU time of the parts so far; null where the system does not report it (Linux does). */
export function readCpuTime({ pids, postgres_folder }: ServiceProcesses): CpuTime | null {
  if (process.platform !== 'linux') return null;
  const postmaster = Number(readIfExists(join(postgres_folder, 'postmaster.pid'))?.split('\n', 1)[0]);
  const { user, system } = process.cpuUsage();
  const all = readdirSync('/proc').flatMap((name) =>
    /^\d+$/.test(name) ? [readProcessStat(Number(name))] : [],
  );
  const backends = all.filter((stat) => stat?.parent === postmaster);
  const sum = (stats: readonly (ProcessStat | null)[]) =>
    stats.reduce((total, stat) => total + (stat?.own_ms ?? 0), 0);
  return {
    api: sum(pids.api.map(readProcessStat)),
    worker: sum(pids.worker.map(readProcessStat)),
    postgres: sum(backends) + (readProcessStat(postmaster)?.ended_ms ?? 0),
    generator: (user + system) / 1000,
  };
}

/** CPU milliseconds that one process has used so far; null where the system does not report it. */
export function readProcessCpuTime(pid: number): number | null {
  return process.platform === 'linux' ? (readProcessStat(pid)?.own_ms ?? null) : null;
}

interface ProcessStat {
  parent: number;
  own_ms: number;
  ended_ms: number;
}

/** Fields 4 and 14 to 17 of /proc/<pid>/stat, counted after the name in parentheses. */
function readProcessStat(pid: number): ProcessStat | null {
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

/** Applies a function to each part of two times. */
export function combineCpuTimes(
  one: CpuTime | null,
  other: CpuTime | null,
  combine: (one: number, other: number, part: keyof CpuTime) => number,
): CpuTime | null {
  if (!one || !other) return null;
  const of = (part: keyof CpuTime) => combine(one[part], other[part], part);
  return { api: of('api'), worker: of('worker'), postgres: of('postgres'), generator: of('generator') };
}

/** CPU milliseconds of the service itself, without the load generator. */
export function ofService({ api, worker, postgres }: CpuTime): number {
  return api + worker + postgres;
}
