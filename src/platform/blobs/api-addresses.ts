import { createHmac, timingSafeEqual } from 'node:crypto';
import type { BlobAddresses, Download, Upload } from './addresses.ts';

/** What a signed address was made for. */
export type SignedPurpose = ({ method: 'GET' } & Download) | ({ method: 'PUT' } & Upload);

export interface ApiAddresses extends BlobAddresses {
  /** What stands behind the last part of an address, or null when it was not signed here, was altered, or has expired. */
  verify(ticket: string): SignedPurpose | null;
}

/**
 * Addresses under which the API itself serves what a store holds, for stores that callers cannot reach: the purpose and its end in
 * one part of a path, with an HMAC-SHA256 over both.
 * @param base_url the address before that part, without a slash at its end.
 * @param key of 32 bytes, for this purpose only.
 */
export function createApiAddresses(base_url: string, key: Buffer): ApiAddresses {
  const signature = (text: string): Buffer => createHmac('sha256', key).update(text).digest();

  function address(purpose: SignedPurpose, expires_at: number): string {
    const text = Buffer.from(JSON.stringify({ ...purpose, expires_at })).toString('base64url');
    return `${base_url}/${text}.${signature(text).toString('base64url')}`;
  }

  return {
    download: async ({ key: blob, filename, content_type, size_bytes }, expires_at) =>
      address({ method: 'GET', key: blob, filename, content_type, size_bytes }, expires_at),

    async upload({ key: blob, content_type, size_bytes }, expires_at) {
      const url = address({ method: 'PUT', key: blob, content_type, size_bytes }, expires_at);
      return { url, headers: { 'Content-Type': content_type, 'Content-Length': String(size_bytes) } };
    },

    verify(ticket) {
      const [text = '', given = '', ...more] = ticket.split('.');
      const sent = Buffer.from(given, 'base64url');
      const right = signature(text);
      // One spelling only: a decoder passes over what does not belong.
      const spelt = more.length === 0 && sent.toString('base64url') === given;
      if (!spelt || sent.byteLength !== right.byteLength || !timingSafeEqual(sent, right)) return null;
      const signed = JSON.parse(Buffer.from(text, 'base64url').toString()) as SignedPurpose & {
        expires_at: number;
      };
      return signed.expires_at > Date.now() ? signed : null;
    },
  };
}
