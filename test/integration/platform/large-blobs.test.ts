import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import {
  CreateMultipartUploadCommand,
  HeadObjectCommand,
  ListMultipartUploadsCommand,
} from '@aws-sdk/client-s3';
import { expect, onTestFinished, test } from 'vitest';
import { createS3Store, s3Prefix } from '../../../src/platform/blobs/s3-store.ts';
import { BlobMissing } from '../../../src/platform/blobs/store.ts';
import { describeUnless } from '../../support/vitest/describe-unless.ts';
import { missingS3Reason, createTestBucket } from '../../support/servers/s3.ts';

const newKey = () => randomBytes(16).toString('hex');

/** In chunks that do not align with the parts. */
async function* pieces(bytes: Buffer): AsyncGenerator<Buffer> {
  for (let start = 0; start < bytes.byteLength; start += 70_001) yield bytes.subarray(start, start + 70_001);
}

describeUnless(missingS3Reason, 'large blobs in a bucket of S3', () => {
  const partSize = 5 * 1024 * 1024;

  async function largeBucket() {
    const drafts = await mkdtemp(join(tmpdir(), 'ams-blobs-'));
    const { client, bucket, remove } = await createTestBucket();
    onTestFinished(async () => {
      expect(await readdir(drafts)).toEqual([]);
      await rm(drafts, { recursive: true });
      await remove();
    });
    const unfinished = async () =>
      (await client.send(new ListMultipartUploadsCommand({ Bucket: bucket }))).Uploads ?? [];
    return { client, bucket, unfinished, blobs: createS3Store(client, bucket, drafts, partSize) };
  }

  test('are written in parts and read as one', async () => {
    const { client, bucket, blobs, unfinished } = await largeBucket();
    const [key, bytes] = [newKey(), randomBytes(2 * partSize + 12_345)];
    await blobs.write(key, pieces(bytes));
    expect(bytes.equals(await buffer(await blobs.read(key)))).toBe(true);
    const [start, end] = [partSize - 10, partSize + 10];
    expect((await buffer(await blobs.read(key, { start, end }))).equals(bytes.subarray(start, end + 1))).toBe(
      true,
    );
    const { ETag } = await client.send(new HeadObjectCommand({ Bucket: bucket, Key: `${s3Prefix}${key}` }));
    expect(ETag).toMatch(/-3"?$/);
    expect((await blobs.list('', 10)).map((blob) => blob.key)).toEqual([key]);
    expect(await unfinished()).toEqual([]);
  });

  test('leave nothing when the write is aborted', async () => {
    const { client, blobs, unfinished } = await largeBucket();
    const key = newKey();
    const stop = new AbortController();
    // Aborts after the first part.
    client.middlewareStack.add(
      (next, { commandName }) =>
        async (args) => {
          const answer = await next(args);
          if (commandName === 'UploadPartCommand') stop.abort(new Error('this worker stops'));
          return answer;
        },
      { step: 'initialize' },
    );
    const writing = blobs.write(key, pieces(randomBytes(3 * partSize)), stop.signal);
    await expect(writing).rejects.toThrow('this worker stops');
    await expect(blobs.read(key)).rejects.toThrow(BlobMissing);
    expect(await unfinished()).toEqual([]);
  });

  test('left by a dead process are removed after a day', async () => {
    const { client, bucket, blobs, unfinished } = await largeBucket();
    const begin = () =>
      client.send(new CreateMultipartUploadCommand({ Bucket: bucket, Key: `${s3Prefix}${newKey()}` }));
    await begin();
    await blobs.removeDrafts(Date.now());
    expect(await unfinished()).toHaveLength(1);
    await blobs.removeDrafts(Date.now() + 25 * 3_600_000);
    expect(await unfinished()).toEqual([]);
  });
});
