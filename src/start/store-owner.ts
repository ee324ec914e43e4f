import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { BlobStore } from '../platform/blobs/store.ts';
import type { Repositories } from '../repositories/index.ts';

/** Under this key, a blob store names the database whose files it holds. */
export const ownerKey = '0'.repeat(32);

type Parts = { blobs: BlobStore; db: Pick<Repositories, 'feedEpoch'> };

/** The blob store holds the files of another database: to this one they are files without a row. */
export class ForeignStore extends Error {
  override name = 'ForeignStore';
}

/**
 * Checks that no other database has marked the blob store.
 * @returns whether it has files without a mark
 * @throws {ForeignStore}
 */
export async function checkStoreOwner({ blobs, db }: Parts): Promise<boolean> {
  // No key is before that of the mark.
  const [first] = await blobs.list('', 1);
  if (first?.key !== ownerKey) return first !== undefined;
  const [owner, self] = [await text(await blobs.read(ownerKey)), await describeSelf(db)];
  if (owner === self) return false;
  throw new ForeignStore(
    `the files belong to the database ${owner}, this one is ${self}: none is removed. Give each its own store; after a restore, remove ${ownerKey} from it`,
  );
}

/** The same, and marks files without a mark as those of this database. @throws {ForeignStore} */
export async function claimStore({ blobs, db }: Parts): Promise<void> {
  if (await checkStoreOwner({ blobs, db }))
    await blobs.write(ownerKey, Readable.from([Buffer.from(await describeSelf(db))]));
}

async function describeSelf({ feedEpoch }: Parts['db']): Promise<string> {
  const { name, place } = await feedEpoch.identifyDatabase();
  return `${name} (${place})`;
}
