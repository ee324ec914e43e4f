import { randomUUID } from 'node:crypto';
import { link, mkdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { hasErrorCode, readIfExists } from './private-file.ts';

/** Whoever holds the lock touches it this often, in ms. */
const touchIntervalMs = 2_000;
/** A lock that nobody has touched for so long was left by a process that is gone. */
const staleAfterMs = 10_000;
const pollIntervalMs = 50;

/**
 * Runs something while no other process does so under the same path. A holder that was killed is taken for gone after ten seconds.
 * @throws the reason of `signal` while it waits.
 */
export async function withFileLock<T>(path: string, signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  const mine = randomUUID();
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  while (!(await tryTakeLock(path, mine))) {
    const holder = await readIfExists(path);
    if (holder !== undefined && (await isStale(path))) await removeStale(path, { stale: holder, mine });
    else await pause(pollIntervalMs, undefined, { signal });
  }
  const touching = setInterval(() => {
    const now = new Date();
    // It was taken for stale while this process slept; there is nothing left to hold.
    utimes(path, now, now).catch(() => clearInterval(touching));
  }, touchIntervalMs).unref();
  try {
    return await run();
  } finally {
    clearInterval(touching);
    if ((await readIfExists(path)) === mine) await rm(path, { force: true });
  }
}

async function tryTakeLock(path: string, mine: string): Promise<boolean> {
  try {
    await writeFile(path, mine, { flag: 'wx', mode: 0o600 });
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

/** Moves it aside first: should somebody have been faster, and it is a fresh one that moved, it goes back. */
async function removeStale(path: string, { stale, mine }: { stale: string; mine: string }): Promise<void> {
  const aside = `${path}.${mine}`;
  try {
    await rename(path, aside);
    if ((await readIfExists(aside)) !== stale) await link(aside, path);
  } catch (error) {
    if (!hasErrorCode(error, 'ENOENT') && !hasErrorCode(error, 'EEXIST')) throw error;
  } finally {
    await rm(aside, { force: true });
  }
}
