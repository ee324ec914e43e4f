import { randomUUID } from 'node:crypto';
import { access, mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertBlobKey, BlobMissing, type Blobs } from './blobs.ts';

/**
 * Blobs as files of a folder, for a service that runs on one machine. The key abcd… lies in ab/cd/abcd…; what is still
 * being written lies in drafts/. Nothing is created before the first write.
 */
export function folderBlobs(root: string): Blobs {
  function pathOf(key: string): string {
    assertBlobKey(key);
    return join(root, key.slice(0, 2), key.slice(2, 4), key);
  }

  return {
    async read(key) {
      try {
        const file = await open(pathOf(key), 'r');
        return file.createReadStream();
      } catch (error) {
        if (!isAbsence(error)) throw error;
        // A folder that is away, such as a disk that is not mounted, says nothing about its files.
        await access(root);
        throw new BlobMissing(key);
      }
    },

    async write(key, bytes) {
      const path = pathOf(key);
      const draft = join(root, 'drafts', randomUUID());
      await Promise.all([dirname(path), dirname(draft)].map(makeFolder));
      try {
        await writeFile(draft, bytes, { flag: 'wx', mode: 0o600, flush: true });
        await rename(draft, path);
      } catch (error) {
        await rm(draft, { force: true });
        throw error;
      }
      const leaf = dirname(path);
      await Promise.all([leaf, dirname(leaf), root].map(syncFolder));
    },

    async remove(key) {
      await rm(pathOf(key), { force: true });
    },
  };
}

async function makeFolder(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
}

/** A name outlives a power cut once the folder that holds it is written. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}
