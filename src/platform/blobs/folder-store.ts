import { access, open, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { assertBlobKey, BlobMissing, type BlobStore, isBlobKey, type StoredBlob } from './store.ts';
import {
  checkFolder,
  createDraftFolder,
  isNotFound,
  makeFolder,
  listNames,
  getModifiedTime,
} from './draft-folder.ts';

/**
 * Blobs as files in a folder, for a service on one machine. The key abcd… is stored at ab/cd/abcd…, incomplete files in drafts/. Nothing is
 * created before the first write.
 */
export function createFolderStore(root: string): BlobStore {
  const drafts = createDraftFolder(join(root, 'drafts'));

  function pathOf(key: string): string {
    assertBlobKey(key);
    return join(root, key.slice(0, 2), key.slice(2, 4), key);
  }

  /** Every key after this one, in order. Folders are read one by one. */
  async function* keysAfter(after: string): AsyncGenerator<string> {
    for (const first of await foldersFrom(root, after.slice(0, 2))) {
      const start = after.startsWith(first) ? after.slice(2, 4) : '';
      for (const second of await foldersFrom(join(root, first), start)) {
        const names = await listNames(join(root, first, second));
        yield* names.filter((name) => isBlobKey(name) && name > after).sort();
      }
    }
  }

  return {
    async read(key, range) {
      try {
        const file = await open(pathOf(key), 'r');
        return file.createReadStream(range);
      } catch (error) {
        if (!isNotFound(error)) throw error;
        // Without the folder (a disk that is not mounted) it is unknown whether the file exists.
        await access(root);
        throw new BlobMissing(key);
      }
    },

    async write(key, bytes) {
      const path = pathOf(key);
      const leaf = dirname(path);
      await makeFolder(leaf);
      await drafts.write(bytes, true, (draft) => rename(draft, path));
      await Promise.all([leaf, dirname(leaf), root].map(syncFolder));
    },

    async remove(key) {
      await rm(pathOf(key), { force: true });
    },

    async list(after, limit) {
      const found: StoredBlob[] = [];
      for await (const key of keysAfter(after)) {
        const written_at = await getModifiedTime(pathOf(key));
        if (written_at !== null) found.push({ key, written_at });
        if (found.length === limit) break;
      }
      return found;
    },

    check: () => checkFolder(root),

    removeDrafts: (before) => drafts.removeBefore(before),
  };
}

/** A new name survives a power failure once its folder is synced. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

/** The two-digit folders in this one, in order. */
async function foldersFrom(path: string, first: string): Promise<string[]> {
  return (await listNames(path)).filter((name) => /^[0-9a-f]{2}$/.test(name) && name >= first).sort();
}
