import { S3Client } from '@aws-sdk/client-s3';

export interface S3Settings {
  /** Absent: the one of AWS for the region. */
  endpoint: string | undefined;
  region: string;
  /** Absent: wherever AWS clients look for credentials (environment, profile, role of the machine). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
}

/** In milliseconds: to connect, and for a connection over which nothing moves. */
const patience = { connectionTimeout: 3_000, socketTimeout: 15_000 };

const quiet = () => undefined;
/** What fails is thrown, and told by whoever catches it. */
const silent = { trace: quiet, debug: quiet, info: quiet, warn: quiet, error: quiet };

/**
 * A client for any server that speaks S3. Buckets stand in the path, and checksums are sent only where we give them: both are what
 * servers beside AWS understand.
 */
export function createS3Client({ endpoint, region, credentials }: S3Settings): S3Client {
  return new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    logger: silent,
    requestHandler: { ...patience, requestTimeout: 60_000, throwOnRequestTimeout: true },
  });
}
