import type { S3Client } from '@aws-sdk/client-s3';
import { s3Sdk } from './s3-sdk.ts';

export interface S3Settings {
  /** Absent: the one of AWS for the region. */
  endpoint: string | undefined;
  region: string;
  /** Absent: wherever AWS clients look for credentials (environment, profile, role of the machine). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** How long nothing may move on a connection, in milliseconds. */
  socketTimeoutMs: number;
}

/** How long a connection may take to open, and an answer to begin, in milliseconds. */
const timeouts = { connectionTimeout: 3_000, requestTimeout: 60_000, throwOnRequestTimeout: true };

/** Whoever reads slowly holds a connection: the usual 50 would let a few of them hold up all others. */
const agentOptions = { maxSockets: 1_000 };

const noop = () => undefined;
/** What fails is thrown, and told by whoever catches it. */
const silentLogger = { trace: noop, debug: noop, info: noop, warn: noop, error: noop };

/**
 * A client for any server that speaks S3. Buckets stand in the path, and checksums are sent only where we give them: both are what
 * servers beside AWS understand.
 */
export function createS3Client({ endpoint, region, credentials, socketTimeoutMs }: S3Settings): S3Client {
  // The SDK says with the first client that releases of 2027 will want Node 22; the lock file keeps one that does not.
  process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
  const sdk = s3Sdk();
  return new sdk.S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    logger: silentLogger,
    requestHandler: {
      ...timeouts,
      socketTimeout: socketTimeoutMs,
      httpAgent: agentOptions,
      httpsAgent: agentOptions,
    },
  });
}
