import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What a program must be started with for `settledBytes` to work on it. */
export const settling: readonly string[] = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('./settle-on-signal.js', import.meta.url)),
];

const step_ms = 1_000;
const mostSteps = 10;
/** Two readings that differ by less count as the same. */
const steady = 0.005;

/** Resident memory of a process as the kernel counts it (VmRSS), in bytes. @throws where there is no /proc. */
export function residentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`/proc/${pid}/status tells no resident memory`);
  return Number(match[1]) * 1024;
}

/** The same once it no longer moves: garbage is collected every second until two readings agree, ten times at most. */
export async function settledBytes(pid: number, signal: AbortSignal): Promise<number> {
  let last = Number.POSITIVE_INFINITY;
  for (let step = 0; step < mostSteps; step += 1) {
    process.kill(pid, 'SIGUSR2');
    await pause(step_ms, undefined, { signal });
    const bytes = residentBytes(pid);
    if (Math.abs(last - bytes) < steady * bytes) return bytes;
    last = bytes;
  }
  return last;
}
