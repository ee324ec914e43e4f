import { createRequire } from 'node:module';
import type * as Sdk from '@aws-sdk/client-s3';
import type * as Presigner from '@aws-sdk/s3-request-presigner';

const require = createRequire(import.meta.url);

/** The SDK for S3, loaded when it is asked for first: that takes long, and who keeps files in a folder needs none of it. */
export function s3Sdk(): typeof Sdk {
  return require('@aws-sdk/client-s3') as typeof Sdk;
}

/** Its signer of addresses, loaded likewise. */
export function s3Presigner(): typeof Presigner {
  return require('@aws-sdk/s3-request-presigner') as typeof Presigner;
}
