import { execFile, spawn } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { chown, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { accountForPostgres } from '../../../../src/embedded/postgres/account.ts';

const run = promisify(execFile);

/** The size of a small disk. */
export const diskBytes = 128 * 1_024 * 1_024;

const cleanUpScript = `
cat >/dev/null
for round in 1 2 3; do
  for entry in /proc/[0-9]*; do
    case "$(readlink "$entry/cwd")" in "$1"|"$1"/*) kill -9 "\${entry#/proc/}" 2>/dev/null;; esac
  done
  sleep 0.2
done
for disk in "$1"/*/disk; do umount "$disk" 2>/dev/null; done
[ -n "$2" ] && { for name in a b; do ip netns del "$2$name" 2>/dev/null; done; ip link del "$2" 2>/dev/null; }
rm -rf "$1"
`;

/**
 * Kills every process that works in the folder, unmounts its disks and removes it, when this process exits for any reason.
 * @param prefix the network of patroni-network.ts to remove; empty: none
 * @returns a function that does so now
 */
export function cleanUpOnExit(folder: string, prefix: string): () => Promise<void> {
  const guard = spawn('/bin/sh', ['-c', cleanUpScript, 'patroni-guard', folder, prefix], {
    cwd: '/',
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  const ended = new Promise((resolve) => void guard.once('close', resolve));
  return async () => {
    guard.stdin.end();
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
}

export type Starter = ReturnType<typeof createStarter>;

/** Starts programs as the user of PostgreSQL, each in a folder of its own with a log. */
export function createStarter(folder: string) {
  const account = accountForPostgres();
  return async function start(
    name: string,
    program: string,
    args: string[],
    { wrapper = [], env = {} }: { wrapper?: string[]; env?: Record<string, string> } = {},
  ) {
    const own = join(folder, name);
    await createFolder(own, false);
    const drop = account
      ? ['setpriv', `--reuid=${account.uid}`, `--regid=${account.gid}`, '--clear-groups']
      : [];
    const script = 'log=$1; shift; exec "$@" >>"$log" 2>&1 </dev/null';
    const child = spawn(
      wrapper[0] ?? '/usr/bin/env',
      [...wrapper.slice(1), ...drop, '/bin/sh', '-c', script, 'start', join(own, 'log'), program, ...args],
      {
        cwd: own,
        detached: true,
        stdio: 'ignore',
        env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8', HOME: own, ...env },
      },
    );
    child.unref();
  };
}

/** A folder of PostgreSQL's user, which can be a disk of its own. */
export async function createFolder(folder: string, hasSmallDisk: boolean): Promise<void> {
  const account = accountForPostgres();
  const disk = join(folder, 'disk');
  await mkdir(disk, { recursive: true });
  if (hasSmallDisk) await run('mount', ['-t', 'tmpfs', '-o', `size=${diskBytes}`, 'tmpfs', disk]);
  for (const each of [folder, disk]) if (account) await chown(each, account.uid, account.gid);
}

/** Sends a signal to Patroni, and to PostgreSQL with its children: all processes whose working folder is below this one. */
export function signalProcesses(folder: string, kind: NodeJS.Signals): void {
  // A process can have started another one that was not listed yet.
  for (let round = 0; round < 3; round += 1)
    for (const pid of listProcesses(folder)) signalProcess(pid, kind);
}

function listProcesses(folder: string): number[] {
  return readdirSync('/proc').flatMap((entry) => {
    if (!/^\d+$/.test(entry)) return [];
    try {
      return `${readlinkSync(`/proc/${entry}/cwd`)}/`.startsWith(`${folder}/`) ? [Number(entry)] : [];
    } catch {
      return []; // it has ended, or belongs to another user
    }
  });
}

function signalProcess(pid: number, kind: NodeJS.Signals): void {
  try {
    process.kill(pid, kind);
  } catch (error) {
    if (Object(error).code !== 'ESRCH') throw error;
  }
}
