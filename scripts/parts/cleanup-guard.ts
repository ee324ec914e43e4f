import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Waits until its parent exits for any reason, then stops the servers recorded in the folder and removes the folder. It repeats this,
 * because a starting server may still write. SIGQUIT stops PostgreSQL immediately. A process id below 2 is never one of these
 * servers.
 */
const cleanUp = `
for pause in 0 1 1 2; do
  sleep $pause
  for note in "$1"/run/*.json; do
    pid=$(sed -n 's/.*"pid":\\([0-9]*\\).*/\\1/p' "$note" 2>/dev/null)
    [ "\${pid:-0}" -gt 1 ] && kill -QUIT "$pid"
  done
  rm -rf "$1"
done
`;

/**
 * Stops the PostgreSQL and the Redis of a data folder and removes the folder when this process exits. Servers started with
 * src/embedded outlive their launcher on purpose, and a process cannot clean up after SIGKILL.
 * @returns a function that cancels this, for callers that have stopped the servers themselves.
 */
export function removeFolderOnExit(folder: string): () => void {
  const guard = startGuard(cleanUp, folder);
  return () => void guard.kill('SIGKILL');
}

/** Creates a folder for servers, which this process, or its guard after it, removes. */
export async function createGuardedFolder(
  prefix: string,
): Promise<{ folder: string; remove(): Promise<void> }> {
  const folder = await mkdtemp(join(tmpdir(), prefix));
  const release = removeFolderOnExit(folder);
  return {
    folder,
    async remove() {
      await rm(folder, { recursive: true, force: true });
      release();
    },
  };
}

/** Runs commands of a shell with an argument when this process exits for any reason, unless the guard is killed before. */
export function startGuard(commands: string, argument: string): ChildProcess {
  const guard = spawn('/bin/sh', ['-c', `read -r _\n${commands}`, 'guard', argument], {
    cwd: '/',
    detached: true, // Ctrl-C in the terminal must not reach the guard
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  return guard;
}
