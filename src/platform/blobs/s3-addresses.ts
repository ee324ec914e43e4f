import type { S3Client } from '@aws-sdk/client-s3';
import { create as contentDisposition } from 'content-disposition';
import type { BlobAddresses } from './addresses.ts';
import { assertBlobKey } from './store.ts';
import { s3Prefix } from './s3-store.ts';
import { s3Presigner, s3Sdk } from './s3-client.ts';

/**
 * Signed URLs of the S3 server itself.
 * @param client for the endpoint that clients use: the host is signed too.
 */
export function createS3Addresses(client: S3Client, bucket: string): BlobAddresses {
  const { GetObjectCommand, PutObjectCommand } = s3Sdk();
  const { getSignedUrl } = s3Presigner();

  function place(key: string): { Bucket: string; Key: string } {
    assertBlobKey(key);
    return { Bucket: bucket, Key: `${s3Prefix}${key}` };
  }
  const secondsUntil = (time: number): number => Math.max(1, Math.floor((time - Date.now()) / 1_000));

  return {
    download({ key, filename, content_type }, expires_at) {
      const command = new GetObjectCommand({
        ...place(key),
        ResponseContentType: content_type,
        ResponseContentDisposition: contentDisposition(filename),
        ResponseCacheControl: 'private, no-store',
      });
      return getSignedUrl(client, command, { expiresIn: secondsUntil(expires_at) });
    },

    async upload({ key, content_type, size_bytes }, expires_at) {
      const facts = { ContentType: content_type, ContentLength: size_bytes };
      const url = await getSignedUrl(client, new PutObjectCommand({ ...place(key), ...facts }), {
        expiresIn: secondsUntil(expires_at),
        // By itself the presigner leaves both out, and then neither is enforced.
        signableHeaders: new Set(['content-type', 'content-length']),
      });
      return { url, headers: { 'Content-Type': content_type, 'Content-Length': String(size_bytes) } };
    },
  };
}
