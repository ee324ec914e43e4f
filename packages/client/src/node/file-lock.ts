import { randomUUID } from 'node:crypto';
import { link, mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasErrorCode, readIfExists } from './private-file.ts';

/** The holder touches the lock at this interval. */
const touchIntervalMs = 2_000;
/** A lock that was not touched for this long belongs to a dead process. */
const staleAfterMs = 10_000;
const pollIntervalMs = 50;

/**
 * Runs a task under a lock file that excludes other processes. The lock of a killed process expires after ten seconds.
 * @throws the reason of `signal` while it waits
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const ownId = randomUUID();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await tryTakeLock(path, ownId))) {
    const holder = await readIfExists(path);
    if (holder !== undefined && (await isStale(path))) await removeStale(path, { staleId: holder, ownId });
    else await pause(pollIntervalMs, undefined, { signal });
  }
  const touching = setInterval(() => {
    const now = new Date();
    // Another process removed the lock as stale while this one was suspended.
    utimes(path, now, now).catch(() => clearInterval(touching));
  }, touchIntervalMs).unref();
  try {
    return await run();
  } finally {
    clearInterval(touching);
    if ((await readIfExists(path)) === ownId) await rm(path, { force: true });
  }
}

async function tryTakeLock(path: string, ownId: string): Promise<boolean> {
  try {
    await writeFile(path, ownId, { flag: 'wx', mode: 0o600 });
    return true;
  } catch (error) {
    if (hasErrorCode(error, 'EEXIST')) return false;
    throw error;
  }
}

async function isStale(path: string): Promise<boolean> {
  try {
    return (await stat(path)).mtimeMs < Date.now() - staleAfterMs;
  } catch (error) {
    if (hasErrorCode(error, 'ENOENT')) return false;
    throw error;
  }
}

/** Moves the lock aside first. If another process replaced it meanwhile, the moved lock is a valid one and is put back. */
async function removeStale(
  path: string,
  { staleId, ownId }: { staleId: string; ownId: string },
): Promise<void> {
  const aside = `${path}.${ownId}`;
  try {
    await rename(path, aside);
    if ((await readIfExists(aside)) !== staleId) await link(aside, path);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT') && !hasErrorCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}
