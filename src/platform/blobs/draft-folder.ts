import { randomUUID } from 'node:crypto';
import { access, constants, mkdir, readdir, rm, stat, statfs, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

/** Ten uploads of the largest size, in bytes. */
const minFreeBytes = 100 * 1024 * 1024;

/** A private folder for incomplete files, which move to their place when they are complete. */
export function createDraftFolder(root: string) {
  return {
    /**
     * Writes the bytes to a new file and passes its path to `place`. The file is removed afterwards in any case.
     * @param flush whether the bytes have to survive a power failure.
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

    /** Removes files older than this time (ms): leftovers of processes that ended. */
    async removeBefore(time: number): Promise<void> {
      for (const name of await listNames(root)) {
        const path = join(root, name);
        const written_at = await getModifiedTime(path);
        if (written_at !== null && written_at < time) await rm(path, { force: true });
      }
    },
  };
}

/** A folder that cannot hold files; `cause` is the reason. */
export class UnusableFolder extends Error {}

/**
 * Checks that the folder can be written, or created. It creates nothing, because the caller may be another user than the service.
 * @throws {UnusableFolder} also when the disk is almost full.
 */
export async function checkFolder(path: string): Promise<void> {
  try {
    await checkWritable(path);
  } catch (cause) {
    throw new UnusableFolder(cause instanceof Error ? cause.message : String(cause), { cause });
  }
}

async function checkWritable(path: string): Promise<void> {
  let place = resolve(path);
  while ((await getModifiedTime(place)) === null) place = dirname(place);
  await access(place, constants.R_OK | constants.W_OK | constants.X_OK);
  if (!(await stat(place)).isDirectory()) throw new Error(`${place} is not a folder`);
  const { bavail, bsize } = await statfs(place);
  const room = bavail * bsize;
  if (room < minFreeBytes) throw new Error(`only ${Math.floor(room / 1_048_576)} MiB are free in ${place}`);
}

/** Creates a folder with mode 0700, unless it exists. */
export async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** The names in a folder; none when it does not exist. */
export async function listNames(path: string): Promise<string[]> {
  try {
    return await readdir(path);
  } catch (error) {
    if (isNotFound(error)) return [];
    throw error;
  }
}

/** The modification time of a file in milliseconds; null when it does not exist. */
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
