import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { open } from 'node:fs/promises';
import type {
  CompletedPart,
  ListMultipartUploadsCommandInput,
  ListMultipartUploadsCommandOutput,
  S3Client,
} from '@aws-sdk/client-s3';
import { withRetries } from './s3-retry.ts';
import { s3Sdk } from './s3-client.ts';

/**
 * Larger objects are uploaded in parts of this size, in bytes. So a server responds within the 60 s of the client, and no part exceeds 5
 * GiB. With at most 10,000 parts an object can have 625 GiB.
 */
export const defaultPartSize = 64 * 1024 * 1024;

/** The timeout for aborting a failed upload: the process may be about to stop. */
const abortTimeoutMs = 5_000;

/** The maximum duration of a multipart upload; older ones belong to processes that ended. */
const maxUploadMs = 24 * 60 * 60 * 1000;

export interface Part {
  size: number;
  /** SHA-256 in base64. */
  digest: string;
}

/** Where an object goes. */
export interface ObjectLocation {
  Bucket: string;
  Key: string;
}

/** Hashes the bytes that pass, part by part. An empty file has one part. */
export function createPartHasher(partSize: number) {
  const done: Part[] = [];
  let hash = createHash('sha256');
  let size = 0;

  function end(): void {
    done.push({ size, digest: hash.digest('base64') });
    hash = createHash('sha256');
    size = 0;
  }

  return {
    add(chunk: Uint8Array): void {
      for (let rest = chunk; rest.byteLength > 0;) {
        if (size === partSize) end();
        const taken = rest.subarray(0, partSize - size);
        hash.update(taken);
        size += taken.byteLength;
        rest = rest.subarray(taken.byteLength);
      }
    },
    /** To be called once, after the last bytes. */
    finish(): Part[] {
      end();
      return done;
    },
  };
}

/**
 * Uploads a file in parts, one after the other, and repeats a part after a transient error. The object exists once the last part is
 * complete.
 * @param stop aborts the upload.
 */
export async function uploadParts(
  client: S3Client,
  where: ObjectLocation,
  { path, parts }: { path: string; parts: readonly Part[] },
  stop?: AbortSignal,
): Promise<void> {
  const sdk = s3Sdk();
  const options = stop && { abortSignal: stop };
  // Kept open, because the sweep of another process may remove the file meanwhile.
  const file = await open(path);
  try {
    const begin = new sdk.CreateMultipartUploadCommand({ ...where, ChecksumAlgorithm: 'SHA256' });
    const { UploadId } = await client.send(begin, options);
    const upload = { ...where, UploadId };
    try {
      const put: CompletedPart[] = [];
      let start = 0;
      for (const [index, { size, digest }] of parts.entries()) {
        const part = { PartNumber: index + 1, ChecksumSHA256: digest };
        const range = { fd: file.fd, start, end: start + size - 1, autoClose: false };
        const { ETag } = await withRetries(() => {
          const Body = createReadStream(path, range);
          return client.send(
            new sdk.UploadPartCommand({ ...upload, ...part, ContentLength: size, Body }),
            options,
          );
        }, stop);
        put.push({ ...part, ETag });
        start += size;
      }
      const complete = new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts: put } });
      await client.send(complete, options);
    } catch (error) {
      // The sweep aborts what cannot be aborted now.
      const brief = { abortSignal: AbortSignal.timeout(abortTimeoutMs) };
      await client.send(new sdk.AbortMultipartUploadCommand(upload), brief).catch(() => undefined);
      throw error;
    }
  } finally {
    await file.close();
  }
}

type Marker = Pick<ListMultipartUploadsCommandInput, 'KeyMarker' | 'UploadIdMarker'>;

/**
 * Aborts multipart uploads of processes that ended. Does nothing at a store that does not list uploads, or not with these credentials.
 * @param before in milliseconds; uploads of the 24 hours before it may be in progress.
 */
export async function abortStaleUploads(
  client: S3Client,
  { Bucket, Prefix }: { Bucket: string; Prefix: string },
  before: number,
): Promise<void> {
  const sdk = s3Sdk();
  /** The store or a proxy does not support this, or another sweep was faster: a retry would not help. */
  function ignoreUnsupported(error: unknown): void {
    const status = error instanceof sdk.S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    if (status === undefined || (status >= 500 && status !== 501)) throw error;
  }
  try {
    for (let next: Marker | undefined = {}; next;) {
      const command = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix, ...next });
      const page: ListMultipartUploadsCommandOutput = await client.send(command);
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (!Initiated || Initiated.getTime() > before - maxUploadMs) continue;
        await client
          .send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId }))
          .catch(ignoreUnsupported);
      }
      const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      next = IsTruncated && KeyMarker ? { KeyMarker, UploadIdMarker } : undefined;
    }
  } catch (error) {
    ignoreUnsupported(error);
  }
}
