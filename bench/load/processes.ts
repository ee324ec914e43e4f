import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readIfExists } from '../../src/embedded/private-file.ts';

/** The kernel counts in hundredths of a second. */
const tickMs = 10;

interface ProcessStat {
  parent: number;
  own_ms: number;
  /** CPU milliseconds of the children that have ended. */
  ended_ms: number;
}

/** Fields 4 and 14 to 17 of /proc/<pid>/stat, counted after the name in parentheses; null when the process has ended. */
export function readStat(pid: number): ProcessStat | null {
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
    return null;
  }
}

/** The processes of the PostgreSQL in a data folder. */
export function listPostgresProcesses(folder: string): { postmaster: number; backends: number[] } {
  const postmaster = Number(readIfExists(join(folder, 'postmaster.pid'))?.split('\n', 1)[0]);
  const all = readdirSync('/proc').map(Number).filter(Number.isInteger);
  return { postmaster, backends: all.filter((pid) => readStat(pid)?.parent === postmaster) };
}

/**
 * Memory of a process as the kernel counts it, in bytes: resident, or only what is private to the process.
 * @throws where there is no /proc
 */
export function readMemory(pid: number, field: 'VmRSS' | 'VmHWM' | 'RssAnon'): number {
  const match = new RegExp(`^${field}:\\s+(\\d+) kB$`, 'm').exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`/proc/${pid}/status has no ${field}`);
  return Number(match[1]) * 1024;
}
