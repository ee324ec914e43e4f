import type { Core } from '../../src/compose.ts';
import { BlobMissing } from '../../src/platform/blobs/store.ts';

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

/** More lost files of a page are compared with those that are left. */
const maxLost = 10;

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
 * Compares the blob store with the rows in key order: removes blobs without a row, and marks attachments without a blob as lost. An
 * empty store, and one without most files of a page, are ignored, because they are probably the wrong ones or not mounted.
 */
export async function sweepBlobs(core: FileCore): Promise<void> {
  const { blobs, logger } = core;
  const before = Date.now() - minAgeMs;
  await blobs.removeDrafts(before);
  for (let after = '', more = true; more;) {
    const found = await blobs.list(after, pageSize);
    if (after === '' && found.length === 0) {
      logger.info({}, 'blob store is empty; not swept');
      return;
    }
    more = found.length === pageSize;
    const last = more ? (found.at(-1)?.key ?? lastKey) : lastKey;
    await removeOrphans(
      core,
      found.filter(({ written_at }) => written_at < before).map(({ key }) => key),
    );
    await markLost(core, { after, last, before }, new Set(found.map(({ key }) => key)));
    after = last;
  }
}

async function removeOrphans({ db, blobs, logger }: FileCore, keys: string[]): Promise<void> {
  const referenced = await db.attachments.findKeys(keys);
  for (const key of await db.agentExports.findKeys(keys)) referenced.add(key);
  const orphans = keys.filter((key) => !referenced.has(key));
  for (const key of orphans) await blobs.remove(key);
  if (orphans.length > 0) logger.info({ blobs: orphans.length }, 'orphaned blobs removed');
}

interface KeyRange {
  after: string;
  last: string;
  before: number;
}

async function markLost(
  { db, blobs, logger }: FileCore,
  { after, last, before }: KeyRange,
  stored: ReadonlySet<string>,
): Promise<void> {
  const { attachments } = db;
  const rows = await attachments.listKeys(after, last, before);
  const lost: string[] = [];
  for (const { id, storage_key } of rows) {
    // Checked again, because it may have been written after the listing.
    if (!stored.has(storage_key) && (await isMissing(blobs, storage_key))) lost.push(id);
  }
  if (lost.length === 0) return;
  if (lost.length > maxLost && lost.length > rows.length / 2) {
    const about = { files: rows.length, missing: lost.length };
    logger.error(about, 'most files are missing: the blob store is probably another one, or not mounted');
    return;
  }
  await attachments.setLost(lost);
  logger.error({ attachments: lost.slice(0, 20), lost: lost.length }, 'attachments have lost their bytes');
}

async function isMissing(blobs: Core['blobs'], key: string): Promise<boolean> {
  try {
    (await blobs.read(key)).destroy();
    return false;
  } catch (error) {
    if (error instanceof BlobMissing) return true;
    throw error;
  }
}
