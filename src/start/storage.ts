import { join } from 'node:path';
import type { Config } from '../config.ts';
import { deriveKey } from '../shared/encryption.ts';
import { createApiAddresses } from '../platform/blobs/api-addresses.ts';
import { createS3Addresses } from '../platform/blobs/s3-addresses.ts';
import type { BlobAddresses } from '../platform/blobs/addresses.ts';
import { createFolderStore } from '../platform/blobs/folder-store.ts';
import { createS3Store } from '../platform/blobs/s3-store.ts';
import type { BlobStore } from '../platform/blobs/store.ts';
import { createS3Client } from '../platform/blobs/s3-client.ts';
import { builtInScanner } from '../platform/scanning/built-in.ts';
import { createClamdScanner } from '../platform/scanning/clamd.ts';
import { chainScanners } from '../platform/scanning/scanner.ts';

/** The parts that keep files: where their bytes lie, under which addresses they can be had, and who looks at them. */
export function createStorage(config: Config) {
  const own = createApiAddresses(
    `${config.PUBLIC_URL}/blobs`,
    deriveKey(config.SECRET_KEY, 'blob addresses'),
  );
  const clamd = config.CLAMD_URL === undefined ? [] : [createClamdScanner(config.CLAMD_URL)];
  return {
    ...chooseBlobStore(config, own),
    /** The addresses that the API serves itself. */
    apiAddresses: own,
    scanner: chainScanners(builtInScanner, ...clamd),
  };
}

/** Every process of the service must see the same store: a folder serves one machine. */
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
  // Who names an endpoint but none for the public may have one that callers cannot reach.
  const reachable = S3_PUBLIC_ENDPOINT !== undefined || S3_ENDPOINT === undefined;
  return { blobs, addresses: reachable ? createS3Addresses(clientFor(S3_PUBLIC_ENDPOINT), bucket) : own };
}
