import { createRequire } from 'node:module';
import type * as Sdk from '@aws-sdk/client-s3';
import type * as Presigner from '@aws-sdk/s3-request-presigner';

const require = createRequire(import.meta.url);

/** The S3 SDK, loaded on first use: loading takes long, and the folder store does not need it. */
export function s3Sdk(): typeof Sdk {
  return require('@aws-sdk/client-s3') as typeof Sdk;
}

/** The SDK's URL signer, loaded on first use too. */
export function s3Presigner(): typeof Presigner {
  return require('@aws-sdk/s3-request-presigner') as typeof Presigner;
}

export interface S3Settings {
  /** Undefined: the endpoint of AWS for the region. */
  endpoint: string | undefined;
  region: string;
  /** Undefined: the credential chain of AWS clients (environment, profile, role of the machine). */
  credentials: { accessKeyId: string; secretAccessKey: string } | undefined;
  /** Closes a connection without any traffic for this time. */
  socketTimeoutMs: number;
}

/** Milliseconds until a connection is open, and until a response begins. */
const timeouts = { connectionTimeout: 3_000, requestTimeout: 60_000, throwOnRequestTimeout: true };

/** A slow reader holds a connection; with the default of 50 a few of them would block all others. */
const agentOptions = { maxSockets: 1_000 };

const noop = () => undefined;
/** The SDK throws its errors; the caller logs them. */
const silentLogger = { trace: noop, debug: noop, info: noop, warn: noop, error: noop };

/** A client for any S3-compatible server: buckets are part of the path, and checksums are sent only where the caller sets them. */
export function createS3Client({ endpoint, region, credentials, socketTimeoutMs }: S3Settings): Sdk.S3Client {
  // The SDK warns that releases from 2027 on need Node 22. The lock file keeps a release that does not.
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
