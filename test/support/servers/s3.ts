import { randomUUID } from 'node:crypto';
import {
  CreateBucketCommand,
  DeleteBucketCommand,
  DeleteObjectCommand,
  ListObjectsV2Command,
} from '@aws-sdk/client-s3';
import { createS3Client } from '../../../src/platform/blobs/s3-client.ts';

const { TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY_ID, TEST_S3_SECRET_ACCESS_KEY, TEST_S3_REGION } = process.env;

/** Why suites that need an S3 server cannot run; undefined when they can. */
export const missingS3Reason =
  TEST_S3_ENDPOINT === undefined
    ? 'no S3 server: TEST_S3_ENDPOINT, TEST_S3_ACCESS_KEY_ID and TEST_S3_SECRET_ACCESS_KEY name one'
    : undefined;

/** The settings of a service whose files lie in a bucket of the test's own, on the real S3 server of the environment. */
export async function createTestBucket() {
  const credentials = {
    accessKeyId: TEST_S3_ACCESS_KEY_ID ?? '',
    secretAccessKey: TEST_S3_SECRET_ACCESS_KEY ?? '',
  };
  const region = TEST_S3_REGION ?? 'us-east-1';
  const client = createS3Client({ endpoint: TEST_S3_ENDPOINT, region, credentials, socketTimeoutMs: 15_000 });
  const bucket = `test-${randomUUID()}`;
  await client.send(new CreateBucketCommand({ Bucket: bucket }));
  return {
    client,
    bucket,
    env: {
      S3_ENDPOINT: TEST_S3_ENDPOINT ?? '',
      S3_BUCKET: bucket,
      S3_REGION: region,
      S3_ACCESS_KEY_ID: credentials.accessKeyId,
      S3_SECRET_ACCESS_KEY: credentials.secretAccessKey,
    },
    async remove() {
      const { Contents = [] } = await client.send(new ListObjectsV2Command({ Bucket: bucket }));
      for (const { Key } of Contents) await client.send(new DeleteObjectCommand({ Bucket: bucket, Key }));
      await client.send(new DeleteBucketCommand({ Bucket: bucket }));
      client.destroy();
    },
  };
}
