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
 * What is larger is put in parts of this size, in bytes: a server answers within the minute that the client waits, and one put ends
 * at 5 GiB. With the 10,000 parts that an object may have it can be 625 GiB large.
 */
export const defaultPartSize = 64 * 1024 * 1024;

/** What is left of a put that failed is waited for so long, in milliseconds: whoever gave it up may be about to stop. */
const abortTimeoutMs = 5_000;

/** How long a put of many parts may take, in milliseconds; what is older belongs to a process that died over it. */
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

/** Takes the digests of bytes that pass, part by part. Of no bytes there is one part too. */
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
 * Puts a file in parts, one after the other, each again after a passing fault. The object is there when the last one is, or not at all.
 * @param stop has it given up.
 */
export async function uploadParts(
  client: S3Client,
  where: ObjectLocation,
  { path, parts }: { path: string; parts: readonly Part[] },
  stop?: AbortSignal,
): Promise<void> {
  const sdk = s3Sdk();
  const options = stop && { abortSignal: stop };
  // Held open: who thinks that its process died may remove it meanwhile.
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
      // What cannot be taken back now is taken back by the sweep.
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
 * Takes back puts of many parts that processes died over. A store that does not tell of them, or not these credentials, is left to
 * its own rules.
 * @param before in milliseconds; those that began within the day before it may be under way.
 */
export async function abortStaleUploads(
  client: S3Client,
  { Bucket, Prefix }: { Bucket: string; Prefix: string },
  before: number,
): Promise<void> {
  const sdk = s3Sdk();
  /** The store, or somebody before it, does not do this, or another sweep has: no fault that would pass. */
  function passOver(error: unknown): void {
    const status = error instanceof sdk.S3ServiceException ? error.$metadata.httpStatusCode : undefined;
    if (status === undefined || (status >= 500 && status !== 501)) throw error;
  }
  try {
    for (let next: Marker | undefined = {}; next;) {
      const command = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix, ...next });
      const page: ListMultipartUploadsCommandOutput = await client.send(command);
      for (const { Key, UploadId, Initiated } of page.Uploads ?? []) {
        if (!Initiated || Initiated.getTime() > before - maxUploadMs) continue;
        await client.send(new sdk.AbortMultipartUploadCommand({ Bucket, Key, UploadId })).catch(passOver);
      }
      const { IsTruncated, NextKeyMarker: KeyMarker, NextUploadIdMarker: UploadIdMarker } = page;
      next = IsTruncated && KeyMarker ? { KeyMarker, UploadIdMarker } : undefined;
    }
  } catch (error) {
    passOver(error);
  }
}
