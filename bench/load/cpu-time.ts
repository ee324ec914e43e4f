import { listPostgresProcesses, readStat } from './processes.ts';

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

/** CPU time of the parts so far; null where the system does not report it (Linux does). */
export function readCpuTime({ pids, postgres_folder }: ServiceProcesses): CpuTime | null {
  if (process.platform !== 'linux') return null;
  const { user, system } = process.cpuUsage();
  const { postmaster, backends } = listPostgresProcesses(postgres_folder);
  const sum = (list: readonly number[]) =>
    list.reduce((total, pid) => total + (readStat(pid)?.own_ms ?? 0), 0);
  return {
    api: sum(pids.api),
    worker: sum(pids.worker),
    postgres: sum(backends) + (readStat(postmaster)?.ended_ms ?? 0),
    generator: (user + system) / 1000,
  };
}

/** CPU milliseconds that one process has used so far; null where the system does not report it. */
export function readProcessCpuTime(pid: number): number | null {
  return process.platform === 'linux' ? (readStat(pid)?.own_ms ?? null) : null;
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
