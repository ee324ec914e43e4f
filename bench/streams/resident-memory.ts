import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What a program must be started with for `settledBytes` to work on it. */
export const garbageCollectionArguments: readonly string[] = [
  '--expose-gc',
  '--import',
  fileURLToPath(new URL('./collect-garbage-on-signal.js', import.meta.url)),
];

const stepMs = 1_000;
const maxSteps = 10;
/** Two readings that differ by less count as the same. */
const stableRatio = 0.005;

/** Resident memory of a process as the kernel counts it (VmRSS), in bytes. @throws where there is no /proc. */
export function readResidentBytes(pid: number): number {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'));
  if (!match) throw new Error(`/proc/${pid}/status tells no resident memory`);
  return Number(match[1]) * 1024;
}

/** The same once it no longer moves: garbage is collected every second until two readings agree, ten times at most. */
export async function waitForStableMemory(pid: number, signal: AbortSignal): Promise<number> {
  let last = Number.POSITIVE_INFINITY;
  for (let step = 0; step < maxSteps; step += 1) {
    process.kill(pid, 'SIGUSR2');
    await pause(stepMs, undefined, { signal });
    const bytes = readResidentBytes(pid);
    if (Math.abs(last - bytes) < stableRatio * bytes) return bytes;
    last = bytes;
  }
  return last;
}
