import { join } from 'node:path';
import type { Config } from '../config.ts';
import { servedType } from '../../packages/core/src/domain/attachments/file-types.ts';
import { deriveKeys } from '../shared/encryption.ts';
import { createSigner } from '../shared/signer.ts';
import { createApiAddresses } from '../platform/blobs/api-addresses.ts';
import { createS3Addresses } from '../platform/blobs/s3-addresses.ts';
import type { BlobAddresses } from '../platform/blobs/addresses.ts';
import { createFolderStore } from '../platform/blobs/folder-store.ts';
import { createS3Store } from '../platform/blobs/s3-store.ts';
import type { BlobStore } from '../platform/blobs/store.ts';
import { createS3Client } from '../platform/blobs/s3-client.ts';
import { createClamdScanner } from '../platform/scanning/clamd.ts';
import { chainScanners } from '../platform/scanning/scanner.ts';
import { zipCheck } from '../platform/scanning/zip-check.ts';
import type { Logger } from '../platform/observability/logger.ts';

/** Longer than an upload takes. */
const draftLifeMs = 3_600_000;

/** The blob store, the addresses of its files, and the scanner. */
export function createStorage(config: Config) {
  const own = createApiAddresses(
    `${config.PUBLIC_URL}/blobs`,
    createSigner(deriveKeys(config.SECRETS, 'blob addresses')),
  );
  const clamd = config.CLAMD_URL === undefined ? [] : [createClamdScanner(config.CLAMD_URL)];
  return {
    ...chooseBlobStore(config, own),
    /** Addresses under which the API itself serves files. */
    apiAddresses: own,
    scanner: chainScanners(zipCheck, ...clamd),
  };
}

/** Removes incomplete files that killed processes have left on this machine, which may run no maintenance. Never rejects. */
export async function removeOldDrafts(parts: { blobs: BlobStore; logger: Logger }): Promise<void> {
  const { blobs, logger } = parts;
  await blobs
    .removeDrafts(Date.now() - draftLifeMs)
    .catch((err: unknown) => logger.warn({ err }, 'old drafts not removed'));
}

/** S3 if S3_BUCKET is set, otherwise a folder, which works on one machine only. */
function chooseBlobStore(config: Config, own: BlobAddresses): { blobs: BlobStore; addresses: BlobAddresses } {
  const { S3_BUCKET: bucket, S3_ENDPOINT, S3_PUBLIC_ENDPOINT, S3_REGION: region, DATA_DIR } = config;
  if (bucket === undefined) return { blobs: createFolderStore(join(DATA_DIR, 'blobs')), addresses: own };
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const credentials =
    accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined;
  const socketTimeoutMs = config.S3_TIMEOUT_SECONDS * 1_000;
  const clientFor = (endpoint: string | undefined) =>
    createS3Client({ endpoint, region, credentials, socketTimeoutMs });
  const blobs = createS3Store(clientFor(S3_ENDPOINT), bucket, join(DATA_DIR, 'drafts'));
  // Clients may not reach S3_ENDPOINT; without S3_PUBLIC_ENDPOINT, files go through the API.
  const isReachable = S3_PUBLIC_ENDPOINT !== undefined || S3_ENDPOINT === undefined;
  if (!isReachable) return { blobs, addresses: own };
  return {
    blobs,
    addresses: serveActiveTypes(createS3Addresses(clientFor(S3_PUBLIC_ENDPOINT), bucket), own),
  };
}

/** The API serves what a browser would run: signed S3 URLs cannot send a Content-Security-Policy. */
function serveActiveTypes(s3: BlobAddresses, own: BlobAddresses): BlobAddresses {
  return {
    upload: s3.upload,
    download(what, expires_at) {
      const isActive = servedType(what.content_type) !== what.content_type;
      return (isActive ? own : s3).download(what, expires_at);
    },
  };
}
