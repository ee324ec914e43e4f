import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import { assertBlobKey, BlobMissing, type BlobStore, isBlobKey, type StoredBlob } from './store.ts';
import { checkFolder, createDraftFolder } from './draft-folder.ts';
import {
  abortStaleUploads,
  createPartHasher,
  type Part,
  type ObjectLocation,
  uploadParts,
  defaultPartSize,
} from './s3-multipart.ts';
import { s3Sdk } from './s3-sdk.ts';
import { withRetries } from './s3-retry.ts';

/** Everything of ours in a bucket, which may hold other things too, begins so. */
export const s3Prefix = 'attachments/';

/**
 * Blobs as objects of an S3 bucket. Bytes of unknown length gather in a local file first: an object is put with its length and
 * digest, whole or in a few large parts, and again after a passing fault; see docs/decisions/0014-attachments.md.
 * @param drafts the folder of those files.
 * @param partSize of what is larger, in bytes; servers want at least 5 MiB.
 */
export function createS3Store(
  client: S3Client,
  bucket: string,
  drafts: string,
  partSize: number = defaultPartSize,
): BlobStore {
  const { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, NoSuchKey, PutObjectCommand } =
    s3Sdk();
  const waiting = createDraftFolder(drafts);

  function place(key: string): ObjectLocation {
    assertBlobKey(key);
    return { Bucket: bucket, Key: `${s3Prefix}${key}` };
  }

  async function putWhole(
    where: ObjectLocation,
    path: string,
    { size, digest }: Part,
    stop?: AbortSignal,
  ): Promise<void> {
    const facts = { ContentLength: size, ChecksumSHA256: digest };
    const put = () => new PutObjectCommand({ ...where, ...facts, Body: createReadStream(path) });
    await withRetries(() => client.send(put(), stop && { abortSignal: stop }), stop);
  }

  const store: BlobStore = {
    async read(key, range) {
      const part = range && { Range: `bytes=${range.start}-${range.end}` };
      try {
        const { Body } = await client.send(new GetObjectCommand({ ...place(key), ...part }));
        if (!Body) throw new Error('S3 answered without a body');
        return Body as Extract<typeof Body, NodeJS.ReadableStream>;
      } catch (error) {
        if (error instanceof NoSuchKey) throw new BlobMissing(key);
        throw error;
      }
    },

    async write(key, bytes, stop) {
      const where = place(key);
      const measure = createPartHasher(partSize);
      async function* measured(): AsyncGenerator<Uint8Array> {
        for await (const chunk of bytes) {
          measure.add(chunk);
          yield chunk;
        }
      }
      await waiting.write(measured(), false, async (path) => {
        const parts = measure.finish();
        const [first, ...others] = parts;
        try {
          if (first && others.length === 0) await putWhole(where, path, first, stop);
          else await uploadParts(client, where, { path, parts }, stop);
        } catch (error) {
          stop?.throwIfAborted();
          throw error;
        }
      });
    },

    async remove(key) {
      await client.send(new DeleteObjectCommand(place(key)));
    },

    async list(after, limit) {
      const found: StoredBlob[] = [];
      // What is not ours may lie between: a page says by itself whether it is the last.
      for (let last = after, more = true; more && found.length < limit;) {
        const { Contents = [], IsTruncated = false } = await client.send(
          new ListObjectsV2Command({
            Bucket: bucket,
            Prefix: s3Prefix,
            StartAfter: `${s3Prefix}${last}`,
            MaxKeys: limit,
          }),
        );
        for (const { Key = '', LastModified } of Contents) {
          last = Key.slice(s3Prefix.length);
          if (isBlobKey(last) && LastModified) found.push({ key: last, written_at: LastModified.getTime() });
        }
        more = IsTruncated && Contents.length > 0;
      }
      return found.slice(0, limit);
    },

    async check() {
      await checkFolder(drafts);
      await store.list('', 1);
      const key = randomBytes(16).toString('hex');
      await store.write(key, Readable.from([Buffer.from('a check; it is removed at once')]));
      (await store.read(key)).resume();
      await store.remove(key);
    },

    async removeDrafts(before) {
      await waiting.removeBefore(before);
      await abortStaleUploads(client, { Bucket: bucket, Prefix: s3Prefix }, before);
    },
  };
  return store;
}
