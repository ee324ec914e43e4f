import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Ten uploads of the largest size, in bytes. */
const minFreeBytes = 100 * 1024 * 1024;

/** A folder for bytes on their way in, which take their place only once they are complete. For its owner only. */
export function createDraftFolder(root: string) {
  return {
    /**
     * Writes the bytes into a file of their own, as fast as the disk takes them, and hands its path to `place`. The file is gone
     * afterwards, whatever happens.
     * @param flush whether the bytes must outlive a power cut.
     */
    async write(
      bytes: AsyncIterable<Uint8Array>,
      flush: boolean,
      place: (path: string) => Promise<void>,
    ): Promise<void> {
      await makeFolder(root);
      const path = join(root, randomUUID());
      try {
        await writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush });
        await place(path);
      } finally {
        await rm(path, { force: true });
      }
    },

    /** Removes files that were written before this time (ms): of processes that died over them. */
    async removeBefore(time: number): Promise<void> {
      for (const name of await listNames(root)) {
        const path = join(root, name);
        const written_at = await getModifiedTime(path);
        if (written_at !== null && written_at < time) await rm(path, { force: true });
      }
    },
  };
}

/**
 * Finds out whether this folder can be written, or be made where it is not there yet. Makes nothing: whoever asks may be another user
 * than the one who writes.
 * @throws the reason why not, also when the disk has next to no room.
 */
export async function checkFolder(path: string): Promise<void> {
  let place = resolve(path);
  while ((await getModifiedTime(place)) === null) place = dirname(place);
  await access(place, constants.R_OK | constants.W_OK | constants.X_OK);
  if (!(await stat(place)).isDirectory()) throw new Error(`${place} is no folder`);
  const { bavail, bsize } = await statfs(place);
  const room = bavail * bsize;
  if (room < minFreeBytes) throw new Error(`only ${Math.floor(room / 1_048_576)} MiB are free in ${place}`);
}

/** Makes a folder that only its owner can look into, unless it is there. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** The names in a folder; none when there is no such folder. */
export async function listNames(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** When a file was written, in milliseconds; null when there is none. */
export async function getModifiedTime(path: string): Promise<number | null> {
  try {
    return Math.floor((await stat(path)).mtimeMs);
  } catch (error) {
    if (isNotFound(error)) return null;
    throw error;
  }
}

export function isNotFound(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
