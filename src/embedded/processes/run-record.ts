import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LauncherError } from '../launcher-error.ts';
import { parseObject } from '../../shared/narrow.ts';
import { readIfExists, writePrivateFile } from '../private-file.ts';
import { endProcess, inspectProcess, isAlive, type ProcessIdentity } from './identity.ts';

/*
 * When a launcher is killed with SIGKILL, PostgreSQL and Redis keep running. So DATA_DIR/run/<server>.json records the pid and start time of
 * each, and the next start ends those that still run.
 */

const fileOf = (dataDir: string, part: string) => join(dataDir, 'run', `${part}.json`);

/** Records a child, so that a later launcher can find it. */
export function recordProcess(dataDir: string, part: string, pid: number): void {
  const facts = inspectProcess(pid);
  if (facts === null) return; // ended already
  mkdirSync(join(dataDir, 'run'), { recursive: true, mode: 0o700 });
  writePrivateFile(fileOf(dataDir, part), JSON.stringify({ pid, started: facts.started }));
}

/** Removes the record of a child that has ended. */
export function forgetProcess(dataDir: string, part: string): void {
  rmSync(fileOf(dataDir, part), { force: true });
}

/**
 * Ends the process that an earlier launcher left, if it still runs. Call it only while holding the folder's lock.
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
  const recorded = parseRecord(text);
  const wasRunning = recorded !== null && isAlive(recorded);
  if (wasRunning && !(await endProcess(recorded, { ...signals, timeoutMs: 5000 }))) {
    throw new LauncherError(`${part}: process ${recorded.pid} of an earlier start does not end; kill it`);
  }
  forgetProcess(dataDir, part);
  return wasRunning;
}

/** Null when the record is damaged. */
function parseRecord(text: string): ProcessIdentity | null {
  const { pid, started } = parseObject(text) ?? {};
  return typeof pid === 'number' && typeof started === 'string' ? { pid, started } : null;
}
