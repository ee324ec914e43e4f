import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LauncherError } from '../launcher-error.ts';
import { parseObject } from '../../shared/narrow.ts';
import { readIfExists, writePrivateFile } from '../private-file.ts';
import { endProcess, inspectProcess, isAlive, type ProcessIdentity } from './identity.ts';

/*
 * What a launcher that is killed with -9 leaves behind: API and worker end by themselves, because their IPC channel closes;
 * PostgreSQL and Redis live on. Every child is therefore noted in DATA_DIR/run/<part>.json with pid and start time, and the
 * next start ends what is noted there and still lives.
 */

const fileOf = (dataDir: string, part: string) => join(dataDir, 'run', `${part}.json`);

/** Notes a child, so that a later launcher can find it. */
export function recordProcess(dataDir: string, part: string, pid: number): void {
  const facts = inspectProcess(pid);
  if (facts === null) return; // ended already
  mkdirSync(join(dataDir, 'run'), { recursive: true, mode: 0o700 });
  writePrivateFile(fileOf(dataDir, part), JSON.stringify({ pid, started: facts.started }));
}

/** Forgets a child that has ended. */
export function forgetProcess(dataDir: string, part: string): void {
  rmSync(fileOf(dataDir, part), { force: true });
}

/**
 * Ends the process an earlier launcher left behind, if it still lives. Call it only while holding the folder's lock.
 * @returns true when there was one.
 * @throws {LauncherError} when it cannot be ended.
 */
export async function stopLeftover(
  dataDir: string,
  part: string,
  signals: { stopSignal: NodeJS.Signals; killSignal: NodeJS.Signals } = {
    stopSignal: 'SIGTERM',
    killSignal: 'SIGKILL',
  },
): Promise<boolean> {
  const text = readIfExists(fileOf(dataDir, part));
  if (text === null) return false;
  const noted = parseRecord(text);
  const alive = noted !== null && isAlive(noted);
  if (alive && !(await endProcess(noted, { ...signals, timeoutMs: 5000 }))) {
    throw new LauncherError(`${part}: process ${noted.pid} of an earlier start does not end; kill it`);
  }
  forgetProcess(dataDir, part);
  return alive;
}

/** Null when the note is damaged: nothing can be known from it. */
function parseRecord(text: string): ProcessIdentity | null {
  const { pid, started } = parseObject(text) ?? {};
  return typeof pid === 'number' && typeof started === 'string' ? { pid, started } : null;
}
