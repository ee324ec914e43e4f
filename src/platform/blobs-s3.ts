import { createHash, randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import type { S3Client } from '@aws-sdk/client-s3';
import { assertBlobKey, BlobMissing, type Blobs, isBlobKey, type StoredBlob } from './blobs.ts';
import { checkFolder, draftFolder } from './drafts.ts';
import { s3Sdk } from './s3-sdk.ts';

/** Everything of ours in a bucket, which may hold other things too, begins so. */
export const s3Prefix = 'attachments/';

/** Pauses before each further try of a write, in milliseconds. */
const pauses = [200, 1_000];

/**
 * Blobs as objects of an S3 bucket. Bytes of unknown length gather in a local file first: an object is put whole, with its
 * length and digest, and again after a passing fault; see docs/decisions/uploads-by-way-of-a-file.md.
 * @param drafts the folder of those files.
 */
export function s3Blobs(client: S3Client, bucket: string, drafts: string): Blobs {
  const { DeleteObjectCommand, GetObjectCommand, ListObjectsV2Command, NoSuchKey, PutObjectCommand } =
    s3Sdk();
  const waiting = draftFolder(drafts);

  function place(key: string): { Bucket: string; Key: string } {
    assertBlobKey(key);
    return { Bucket: bucket, Key: `${s3Prefix}${key}` };
  }

  const store: Blobs = {
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

    async write(key, bytes) {
      const where = place(key);
      const hash = createHash('sha256');
      let size = 0;
      async function* measured(): AsyncGenerator<Uint8Array> {
        for await (const chunk of bytes) {
          hash.update(chunk);
          size += chunk.byteLength;
          yield chunk;
        }
      }
      await waiting.write(measured(), false, async (path) => {
        const facts = { ContentLength: size, ChecksumSHA256: hash.digest('base64') };
        await persistently(() =>
          client.send(new PutObjectCommand({ ...where, ...facts, Body: createReadStream(path) })),
        );
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

    removeDrafts: (before) => waiting.removeBefore(before),
  };
  return store;
}

/** The SDK repeats what has no body, or one that it can read again; a stream it sends once. */
async function persistently(put: () => Promise<unknown>): Promise<void> {
  for (const pause of pauses) {
    try {
      await put();
      return;
    } catch (error) {
      if (!isPassing(error)) throw error;
      await sleep(pause * (0.5 + Math.random()));
    }
  }
  await put();
}

/** Whether a later try may succeed: the network failed, or the store says that it is busy or ill. */
function isPassing(error: unknown): boolean {
  if (!(error instanceof s3Sdk().S3ServiceException)) return true;
  const status = error.$metadata.httpStatusCode ?? 500;
  return status >= 500 || status === 429 || status === 408;
}
