import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { readMemory } from '../load/processes.ts';

/** Node options that a program needs for `waitForStableMemory`. */
export const garbageCollectionArguments: readonly string[] = [
  '--import',
  fileURLToPath(new URL('./collect-garbage-on-signal.js', import.meta.url)),
];

const stepMs = 1_000;
const maxSteps = 10;
/** Two readings that differ by less are considered equal. */
const stableRatio = 0.005;

/**
 * Resident memory after garbage collection, which repeats every second until two readings are equal, ten times at most.
 * @param collectGarbage default: a signal to a program with `garbageCollectionArguments`
 */
export async function waitForStableMemory(
  pid: number,
  signal: AbortSignal,
  collectGarbage: () => unknown = () => process.kill(pid, 'SIGUSR2'),
): Promise<number> {
  let last = Number.POSITIVE_INFINITY;
  for (let step = 0; step < maxSteps; step += 1) {
    await collectGarbage();
    await pause(stepMs, undefined, { signal });
    const bytes = readMemory(pid, 'VmRSS');
    if (Math.abs(last - bytes) < stableRatio * bytes) return bytes;
    last = bytes;
  }
  return last;
}

/** Resident memory of one idle socket, in KB (1,000 bytes). */
export interface SocketMemory {
  /** What one more socket costs: the growth from a quarter of the sockets to all of them. */
  marginal_kb: number;
  /** The growth from no socket to all of them. It includes what the process allocates once, such as a larger young generation. */
  average_kb: number;
}

/** The number of sockets of the first reading. */
export function quarterOf(sockets: number): number {
  return Math.floor(sockets / 4);
}

/** The memory of one socket, from readings of the process in bytes: without sockets, with a quarter of them, and with all. */
export function toSocketMemory(
  sockets: number,
  { none, quarter, all }: { none: number; quarter: number; all: number },
): SocketMemory {
  const round = (bytes: number) => Math.round(bytes / 10) / 100;
  return {
    marginal_kb: round((all - quarter) / (sockets - quarterOf(sockets))),
    average_kb: round((all - none) / sockets),
  };
}
