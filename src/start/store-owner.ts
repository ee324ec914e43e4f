import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BlobStore } from '../platform/blobs/store.ts';
import type { Repositories } from '../repositories/index.ts';

/** Under this key, a blob store names the database whose files it holds. */
export const ownerKey = '0'.repeat(32);

/** Files that are compared with the rows of a database. */
const sampleSize = 1_000;

type Parts = { blobs: BlobStore; db: Pick<Repositories, 'feedEpoch' | 'attachments' | 'agentExports'> };

/** The blob store holds the files of another database: to this one they are files without a row. */
export class ForeignStore extends Error {
  override name = 'ForeignStore';
}

/**
 * Returns whether this database has marked the blob store.
 * @throws {ForeignStore} when another one has
 */
export async function checkStoreOwner({ blobs, db }: Parts): Promise<boolean> {
  // No key is before that of the mark.
  const [first] = await blobs.list('', 1);
  if (first?.key !== ownerKey) return false;
  const [owner, self] = [await text(await blobs.read(ownerKey)), await describeSelf(db)];
  if (owner === self) return true;
  throw new ForeignStore(
    `the files belong to the database ${owner}, this one is ${self}: none is removed. Give each its own store; if this one has moved or was restored, remove ${ownerKey} from it`,
  );
}

/** The same, and marks a store without a mark if this database knows most of its files. @throws {ForeignStore} */
export async function claimStore({ blobs, db }: Parts): Promise<boolean> {
  if (await checkStoreOwner({ blobs, db })) return true;
  const keys = (await blobs.list('', sampleSize)).map(({ key }) => key);
  const known = (await db.attachments.findKeys(keys)).size + (await db.agentExports.findKeys(keys)).length;
  if (known <= keys.length / 2) return false;
  await blobs.write(ownerKey, Readable.from([Buffer.from(await describeSelf(db))]));
  return true;
}

async function describeSelf({ feedEpoch }: Parts['db']): Promise<string> {
  const { name, place } = await feedEpoch.identifyDatabase();
  return `${name} (${place})`;
}
