import type { Core } from '../../src/compose.ts';
import { BlobMissing } from '../../src/platform/blobs/store.ts';

type FileCore = Pick<Core, 'repositories' | 'blobs' | 'logger'>;

const batchSize = 100;
const pageSize = 1_000;
const lastKey = 'f'.repeat(32);

/**
 * Younger bytes may be on their way to their row, and younger rows may have come after the list was made; in milliseconds. Longer
 * than an upload can take, and than its address is good.
 */
const minAgeMs = 3_600_000;

/** Removes exports whose time is over, or that could not be done in it; the bytes after the rows, as with uploads. */
export async function expireExports({ repositories, blobs }: FileCore): Promise<void> {
  for (let more = true; more;) {
    const { removed, keys } = await repositories.agentExports.removeExpired(Date.now(), batchSize);
    for (const key of keys) await blobs.remove(key);
    more = removed === batchSize;
  }
}

/**
 * Removes uploads that nobody has sent or completed in time: first the row, so that it can be sent no more, then the bytes. What a
 * run that was killed has left in between, the sweep of the store finds.
 */
export async function expireUploads({ repositories, blobs }: FileCore): Promise<void> {
  const { attachments, uploads } = repositories;
  for (const take of [attachments.removeExpired, uploads.removeExpired]) {
    for (
      let keys = await take(Date.now(), batchSize);
      keys.length > 0;
      keys = await take(Date.now(), batchSize)
    ) {
      for (const key of keys) await blobs.remove(key);
    }
  }
}

/**
 * Walks through the store and the rows side by side, in the order of their keys: bytes that belong to nothing are removed, and files
 * whose bytes are lost are served no more. A store that holds nothing at all is not believed: it is a wrong one, or not mounted.
 */
export async function sweepBlobs(core: FileCore): Promise<void> {
  const { blobs, logger } = core;
  const before = Date.now() - minAgeMs;
  await blobs.removeDrafts(before);
  for (let after = '', more = true; more;) {
    const found = await blobs.list(after, pageSize);
    if (after === '' && found.length === 0) {
      logger.info({}, 'the store of files is empty');
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

async function removeOrphans({ repositories, blobs, logger }: FileCore, keys: string[]): Promise<void> {
  const known = await repositories.attachments.findKeys(keys);
  for (const key of await repositories.agentExports.findKeys(keys)) known.add(key);
  const orphans = keys.filter((key) => !known.has(key));
  for (const key of orphans) await blobs.remove(key);
  if (orphans.length > 0)
    logger.info({ blobs: orphans.length }, 'bytes that belonged to nothing are removed');
}

interface KeyRange {
  after: string;
  last: string;
  before: number;
}

async function markLost(
  { repositories, blobs, logger }: FileCore,
  { after, last, before }: KeyRange,
  stored: ReadonlySet<string>,
): Promise<void> {
  const { attachments } = repositories;
  const rows = await attachments.listKeys(after, last, before);
  const lost: string[] = [];
  for (const { id, storage_key } of rows) {
    // What is not on the list is looked for by itself, before anything is said about it.
    if (!stored.has(storage_key) && (await isMissing(blobs, storage_key))) lost.push(id);
  }
  if (lost.length === 0) return;
  await attachments.setLost(lost);
  logger.error({ attachments: lost.slice(0, 20), lost: lost.length }, 'the bytes of attachments are lost');
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
