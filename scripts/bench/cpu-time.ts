import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfThere } from '../../src/embedded/private-file.ts';
import type { Stage } from './stage.ts';

/** CPU milliseconds that each part has taken so far. */
export interface CpuTime {
  api: number;
  worker: number;
  postgres: number;
  generator: number;
}

/** Process ids by part. */
export interface Pids {
  api: readonly number[];
  worker: readonly number[];
}

/** The kernel counts in hundredths of a second. */
const tick_ms = 10;

/** What the parts have taken so far, `others` among them, or null where the system does not tell (it does on Linux). */
export function readCpuTime({ pids, postgres_folder }: Stage, others?: Pids): CpuTime | null {
  if (process.platform !== 'linux') return null;
  const postmaster = Number(readIfThere(join(postgres_folder, 'postmaster.pid'))?.split('\n', 1)[0]);
  const { user, system } = process.cpuUsage();
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map((name) => statOf(Number(name)));
  const of = (part: keyof Pids) =>
    [pids[part], ...(others?.[part] ?? [])].reduce((total, pid) => total + (statOf(pid)?.own_ms ?? 0), 0);
  const backends = all.filter((stat) => stat?.parent === postmaster);
  const postgres = backends.reduce((total, stat) => total + (stat?.own_ms ?? 0), 0);
  const { ended_ms = 0 } = statOf(postmaster) ?? {};
  return {
    api: of('api'),
    worker: of('worker'),
    postgres: postgres + ended_ms,
    generator: (user + system) / 1000,
  };
}

/** CPU milliseconds that one process has taken so far; null where the system does not tell. */
export function cpuTimeOf(pid: number): number | null {
  return process.platform === 'linux' ? (statOf(pid)?.own_ms ?? null) : null;
}

/** Fields 4 and 14 to 17 of /proc/<pid>/stat, counted behind the name in brackets. */
function statOf(pid: number): { parent: number; own_ms: number; ended_ms: number } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    const ended_ms = (endedUser + endedSystem) * tick_ms;
    return { parent: fields[1] ?? 0, own_ms: (user + system) * tick_ms, ended_ms };
  } catch {
    return null; // ended meanwhile
  }
}

/** What was taken between two readings, for each of so many messages. */
export function perMessage(before: CpuTime | null, after: CpuTime | null, messages: number): CpuTime | null {
  if (!before || !after || messages === 0) return null;
  const of = (part: keyof CpuTime) => round((after[part] - before[part]) / messages);
  return { api: of('api'), worker: of('worker'), postgres: of('postgres'), generator: of('generator') };
}

function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
