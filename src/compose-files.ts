import { join } from 'node:path';
import type { Config } from './config.ts';
import { derivedKey } from './domain/derived-key.ts';
import { ownAddresses } from './platform/blob-addresses-own.ts';
import { s3Addresses } from './platform/blob-addresses-s3.ts';
import type { BlobAddresses } from './platform/blob-addresses.ts';
import { folderBlobs } from './platform/blobs-folder.ts';
import { s3Blobs } from './platform/blobs-s3.ts';
import type { Blobs } from './platform/blobs.ts';
import { createS3Client } from './platform/s3-client.ts';
import { builtInScanner } from './platform/scanner-built-in.ts';
import { clamdScanner } from './platform/scanner-clamd.ts';
import { judgeInTurn } from './platform/scanner.ts';

/** The parts that keep files: where their bytes lie, under which addresses they can be had, and who looks at them. */
export function composeFiles(config: Config) {
  const own = ownAddresses(`${config.PUBLIC_URL}/blobs`, derivedKey(config.SECRET_KEY, 'blob addresses'));
  const clamd = config.CLAMD_URL === undefined ? [] : [clamdScanner(config.CLAMD_URL)];
  return {
    ...chooseStore(config, own),
    /** The addresses that the API serves itself. */
    own_addresses: own,
    scanner: judgeInTurn(builtInScanner, ...clamd),
  };
}

/** Every process of the service must see the same store: a folder serves one machine. */
function chooseStore(config: Config, own: BlobAddresses): { blobs: Blobs; addresses: BlobAddresses } {
  const { S3_BUCKET: bucket, S3_ENDPOINT, S3_PUBLIC_ENDPOINT, S3_REGION: region, DATA_DIR } = config;
  if (bucket === undefined) return { blobs: folderBlobs(join(DATA_DIR, 'blobs')), addresses: own };
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = config;
  const credentials =
    accessKeyId !== undefined && secretAccessKey !== undefined ? { accessKeyId, secretAccessKey } : undefined;
  const patience = config.S3_PATIENCE_SECONDS * 1_000;
  const clientFor = (endpoint: string | undefined) =>
    createS3Client({ endpoint, region, credentials, patience });
  const blobs = s3Blobs(clientFor(S3_ENDPOINT), bucket, join(DATA_DIR, 'drafts'));
  // Who names an endpoint but none for the public may have one that callers cannot reach.
  const reachable = S3_PUBLIC_ENDPOINT !== undefined || S3_ENDPOINT === undefined;
  return { blobs, addresses: reachable ? s3Addresses(clientFor(S3_PUBLIC_ENDPOINT), bucket) : own };
}
