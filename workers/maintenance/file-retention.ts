import type { Core } from '../../src/compose.ts';
import { claimStore, ownerKey } from '../../src/start/store-owner.ts';

type FileCore = Pick<Core, 'db' | 'blobs' | 'logger'>;

const batchSize = 100;
const pageSize = 1_000;
const lastKey = 'f'.repeat(32);

/**
 * Younger blobs may not have their row yet, and younger rows may have been inserted after the listing. Longer than an upload takes and
 * than its URL is valid.
 */
const minAgeMs = 3_600_000;

/** Removes expired exports, finished or not; first the rows, then the blobs, as for uploads. */
export async function expireExports({ db, blobs }: FileCore): Promise<void> {
  for (let more = true; more;) {
    const removed = await db.agentExports.removeExpired(Date.now(), batchSize);
    for (const key of removed.flat()) await blobs.remove(key);
    more = removed.length === batchSize;
  }
}

/** Lost files that the log names. */
const maxNamed = 20;

/**
 * Removes uploads that were not completed or sent in time: first the row, so that it can no longer be sent, then the blob. If the run
 * is killed in between, sweepBlobs removes the blob.
 */
export async function expireUploads({ db, blobs }: FileCore): Promise<void> {
  const { attachments, uploads } = db;
  for (const removeExpired of [attachments.removeExpired, uploads.removeExpired]) {
    for (let more = true; more;) {
      const keys = await removeExpired(Date.now(), batchSize);
      for (const key of keys) await blobs.remove(key);
      more = keys.length > 0;
    }
  }
}

/**
 * Compares the blob store with the rows in key order: removes blobs without a row, and logs attachments without a blob. Nothing else
 * happens to those: their bytes can return. None is removed from a store that has mostly other files. @throws {ForeignStore}
 */
export async function sweepBlobs(core: FileCore): Promise<void> {
  const { db, blobs, logger } = core;
  const isOwn = await claimStore(core);
  const before = Date.now() - minAgeMs;
  await blobs.removeDrafts(before);
  const lost: string[] = [];
  for (let after = '', more = true; more;) {
    const found = await blobs.list(after, pageSize);
    more = found.length === pageSize;
    const last = more ? (found.at(-1)?.key ?? lastKey) : lastKey;
    const old = found.filter(({ written_at }) => written_at < before).map(({ key }) => key);
    if (isOwn) await removeOrphans(core, old);
    const stored = found.map(({ key }) => key);
    const limit = maxNamed - lost.length;
    lost.push(...(await db.attachments.listLost({ after, last, before, stored, limit })));
    after = last;
  }
  if (lost.length > 0)
    logger.error({ attachments: lost }, 'files are missing: restore their bytes, or check the blob store');
}

async function removeOrphans({ db, blobs, logger }: FileCore, keys: string[]): Promise<void> {
  const referenced = await db.attachments.findKeys(keys);
  for (const key of await db.agentExports.findKeys(keys)) referenced.add(key);
  const orphans = keys.filter((key) => !referenced.has(key) && key !== ownerKey);
  for (const key of orphans) await blobs.remove(key);
  if (orphans.length > 0) logger.info({ blobs: orphans.length }, 'orphaned blobs removed');
}
