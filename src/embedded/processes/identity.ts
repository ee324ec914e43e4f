import { execFileSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { getErrorCode } from '../../shared/narrow.ts';
import { waitUntil } from '../../shared/wait-until.ts';

/** Identifies a process uniquely. A pid alone can be reused. */
export interface ProcessIdentity {
  pid: number;
  started: string;
}

export interface ProcessFacts extends ProcessIdentity {
  uid: number;
  command: string;
}

/** Reads a running process; null when it does not exist (or is a zombie). */
export function inspectProcess(pid: number): ProcessFacts | null {
  if (!Number.isInteger(pid) || pid <= 0) return null;
  return process.platform === 'linux' ? inspectThroughProc(pid) : inspectThroughPs(pid);
}

function inspectThroughProc(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field is the program's name in brackets. It can contain anything, so fields are counted after it.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'Z' || fields[0] === 'X') return null;
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    const command = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
    return { pid, started: `${boot}:${fields[19]}`, uid: statSync(`/proc/${pid}`).uid, command };
  } catch (error) {
    if (isNoSuchProcess(error)) return null;
    throw error;
  }
}

function isNoSuchProcess(error: unknown): boolean {
  const code = getErrorCode(error);
  return code === 'ENOENT' || code === 'ESRCH';
}

function inspectThroughPs(pid: number): ProcessFacts | null {
  let line: string;
  try {
    line = execFileSync('ps', ['-o', 'stat=,uid=,lstart=,command=', '-p', String(pid)], {
      encoding: 'utf8',
      env: { PATH: process.env['PATH'], LC_ALL: 'C' },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).trim();
  } catch (error) {
    if (error instanceof Error && 'status' in error && error.status === 1) return null; // ps found no such process
    throw error;
  }
  const match = /^(\S+)\s+(-?\d+)\s+(\S+\s+\S+\s+\d+\s+\S+\s+\d+)\s+(.*)$/s.exec(line);
  if (!match || match[1]?.startsWith('Z')) return null;
  return { pid, started: match[3] ?? '', uid: Number(match[2]), command: match[4] ?? '' };
}

/** Whether this process is running: same pid and same start time. */
export function isAlive(identity: ProcessIdentity): boolean {
  return inspectProcess(identity.pid)?.started === identity.started;
}

/**
 * Ends a process that is not a child: sends `stopSignal`, and `killSignal` after `timeoutMs`.
 * @returns false when it still runs 2 s after that.
 */
export async function endProcess(
  identity: ProcessIdentity,
  options: { stopSignal: NodeJS.Signals; killSignal: NodeJS.Signals; timeoutMs: number },
): Promise<boolean> {
  const hasEnded = () => !isAlive(identity);
  if (hasEnded()) return true;
  sendSignal(identity.pid, options.stopSignal);
  if (await waitUntil(hasEnded, { timeoutMs: options.timeoutMs })) return true;
  sendSignal(identity.pid, options.killSignal);
  return await waitUntil(hasEnded, { timeoutMs: 2000 });
}

function sendSignal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch (error) {
    if (!isNoSuchProcess(error)) throw error;
  }
}
