import { randomBytes } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { Readable } from 'node:stream';
import type { S3Client } from '@aws-sdk/client-s3';
import {
  assertBlobKey,
  BlobMissing,
  type BlobStore,
  type ByteRange,
  isBlobKey,
  type StoredBlob,
} from './store.ts';
import { checkFolder, createDraftFolder } from './draft-folder.ts';
import {
  abortStaleUploads,
  createPartHasher,
  type Part,
  type ObjectLocation,
  uploadParts,
  defaultPartSize,
} from './s3-multipart.ts';
import { s3Sdk } from './s3-client.ts';
import { withRetries } from './s3-retry.ts';

/** The prefix of all our objects: a bucket can hold other objects too. */
export const s3Prefix = 'attachments/';

interface BucketClient {
  client: S3Client;
  bucket: string;
}

/**
 * Blobs as objects of an S3 bucket. Bytes of unknown length are first written to a local file, so that an object is uploaded with its length
 * and digest, in one or several parts, and again after a transient error; see docs/decisions/0010-attachments.md.
 * @param drafts the folder of those files.
 * @param partSize in bytes; servers want at least 5 MiB.
 */
export function createS3Store(
  client: S3Client,
  bucket: string,
  drafts: string,
  partSize: number = defaultPartSize,
): BlobStore {
  const { DeleteObjectCommand } = s3Sdk();
  const target = { client, bucket };
  const draftFolder = createDraftFolder(drafts);

  const store: BlobStore = {
    read: (key, range) => readObject(target, key, range),

    async write(key, bytes, stop) {
      const location = locate(bucket, key);
      const hasher = createPartHasher(partSize);
      async function* hashed(): AsyncGenerator<Uint8Array> {
        for await (const chunk of bytes) {
          hasher.add(chunk);
          yield chunk;
        }
      }
      await draftFolder.write(hashed(), false, async (path) => {
        const parts = hasher.finish();
        const [first, ...others] = parts;
        try {
          if (first && others.length === 0) await putObject(client, location, path, first, stop);
          else await uploadParts(client, location, { path, parts }, stop);
        } catch (error) {
          stop?.throwIfAborted();
          throw error;
        }
      });
    },

    async remove(key) {
      await client.send(new DeleteObjectCommand(locate(bucket, key)));
    },

    list: (after, limit) => listObjects(target, after, limit),

    async check() {
      await checkFolder(drafts);
      await store.list('', 1);
      const key = randomBytes(16).toString('hex');
      await store.write(key, Readable.from([Buffer.from('a check; it is removed at once')]));
      (await store.read(key)).resume();
      await store.remove(key);
    },

    async removeDrafts(before) {
      await draftFolder.removeBefore(before);
      await abortStaleUploads(client, { Bucket: bucket, Prefix: s3Prefix }, before);
    },
  };
  return store;
}

/** @throws {TypeError} when `key` is not a blob key. */
function locate(bucket: string, key: string): ObjectLocation {
  assertBlobKey(key);
  return { Bucket: bucket, Key: `${s3Prefix}${key}` };
}

async function readObject(
  { client, bucket }: BucketClient,
  key: string,
  range?: ByteRange,
): Promise<Readable> {
  const { GetObjectCommand, NoSuchKey } = s3Sdk();
  const part = range && { Range: `bytes=${range.start}-${range.end}` };
  try {
    const { Body } = await client.send(new GetObjectCommand({ ...locate(bucket, key), ...part }));
    if (!Body) throw new Error('S3 sent a response without a body');
    return Body as Extract<typeof Body, NodeJS.ReadableStream>;
  } catch (error) {
    if (error instanceof NoSuchKey) throw new BlobMissing(key);
    throw error;
  }
}

async function putObject(
  client: S3Client,
  location: ObjectLocation,
  path: string,
  { size, digest }: Part,
  stop?: AbortSignal,
): Promise<void> {
  const { PutObjectCommand } = s3Sdk();
  const lengthAndDigest = { ContentLength: size, ChecksumSHA256: digest };
  const attempt = async () => {
    const Body = createReadStream(path);
    const command = new PutObjectCommand({ ...location, ...lengthAndDigest, Body });
    try {
      await client.send(command, stop && { abortSignal: stop });
    } finally {
      // After a failure, the client leaves it open.
      Body.destroy();
    }
  };
  await withRetries(attempt, stop);
}

async function listObjects(
  { client, bucket }: BucketClient,
  after: string,
  limit: number,
): Promise<StoredBlob[]> {
  const { ListObjectsV2Command } = s3Sdk();
  const found: StoredBlob[] = [];
  // A page can hold objects that are not blobs, so only the response says whether it is the last page.
  for (let last = after, hasMore = true; hasMore && found.length < limit;) {
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
    hasMore = IsTruncated && Contents.length > 0;
  }
  return found.slice(0, limit);
}
