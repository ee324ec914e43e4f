import { linkSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { LauncherError } from '../launcher-error.ts';
import { getErrorCode, parseObject } from '../../shared/narrow.ts';
import { readIfExists, writePrivateFile } from '../private-file.ts';
import { inspectProcess, isAlive } from './identity.ts';

/**
 * Locks the data folder for this process. The lock holds pid and start time, so a lock of a killed launcher is stale even when its pid was
 * reused.
 * @returns releases the lock.
 * @throws {LauncherError} when another running launcher holds it.
 */
export function takeLock(dataDir: string): () => void {
  const path = join(dataDir, 'launcher.lock');
  const ownLock = JSON.stringify({ pid: process.pid, started: inspectProcess(process.pid)?.started ?? '' });
  const draft = `${path}.${process.pid}`;
  writePrivateFile(draft, ownLock);
  try {
    for (let attempt = 0; attempt < 20; attempt += 1) {
      if (tryLink(draft, path)) return () => release(path, ownLock);
      const held = readIfExists(path);
      if (held === null) continue; // released since
      const holder = findLiveHolder(held);
      if (holder !== null) {
        throw new LauncherError(
          `${dataDir} is in use by another service (process ${holder}); stop it, or choose another folder with DATA_DIR`,
        );
      }
      removeStale(path, held);
    }
  } finally {
    rmSync(draft, { force: true });
  }
  throw new LauncherError(`${path}: cannot create the lock; remove the file if no service uses this folder`);
}

/** A hard link is created atomically and never replaces an existing file. */
function tryLink(from: string, to: string): boolean {
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (getErrorCode(error) === 'EEXIST') return false;
    throw error;
  }
}

/** A damaged lock counts as stale: locks are created atomically, so no process is still writing it. */
function findLiveHolder(text: string): number | null {
  const { pid, started } = parseObject(text) ?? {};
  return typeof pid === 'number' && typeof started === 'string' && isAlive({ pid, started }) ? pid : null;
}

/** Renames the stale lock. If another launcher has replaced it with a new lock since, restores that lock. */
function removeStale(path: string, stale: string): void {
  const aside = `${path}.stale.${process.pid}`;
  try {
    renameSync(path, aside);
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return;
    throw error;
  }
  if (readIfExists(aside) !== stale) tryLink(aside, path);
  rmSync(aside, { force: true });
}

function release(path: string, ownLock: string): void {
  if (readIfExists(path) === ownLock) rmSync(path, { force: true });
}
