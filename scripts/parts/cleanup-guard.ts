import { spawn } from 'node:child_process';

/**
 * Sleeps until whoever started it is gone, however that came about, and then ends the servers that are noted in the folder, and
 * the folder; several times, because what was just starting may still write. QUIT makes PostgreSQL stop at once. A number below 2
 * is no server of ours.
 */
const script = `
read -r _
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
 * Ties the PostgreSQL and the Redis that run on a data folder, and the folder itself, to the life of this process: a server that
 * was started with src/embedded outlives its launcher on purpose, and nobody can clean up behind a kill -9.
 * @returns what releases them, for whoever has ended them in order.
 */
export function removeFolderOnExit(folder: string): () => void {
  const guard = spawn('/bin/sh', ['-c', script, 'folder-guard', folder], {
    cwd: '/',
    detached: true, // a Ctrl-C in the terminal is not for the guard
    stdio: ['pipe', 'ignore', 'ignore'],
  });
  guard.unref();
  return () => void guard.kill('SIGKILL');
}
