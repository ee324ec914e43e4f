import type { Signer } from '../../shared/signer.ts';
import type { BlobAddresses, Download, Upload } from './addresses.ts';

/** The purpose of a signed URL. */
export type SignedPurpose = ({ method: 'GET' } & Download) | ({ method: 'PUT' } & Upload);

export interface ApiAddresses extends BlobAddresses {
  /** The purpose of the last path segment of a URL; null when the signature is wrong or it has expired. */
  verify(ticket: string): SignedPurpose | null;
}

/**
 * Signed URLs of the API itself, for stores that clients cannot reach: one path segment holds purpose and expiry with an HMAC-SHA256.
 * @param base_url the URL before that segment, without a trailing slash.
 * @param signer for this purpose only.
 */
export function createApiAddresses(base_url: string, signer: Signer): ApiAddresses {
  function address(purpose: SignedPurpose, expires_at: number): string {
    const text = Buffer.from(JSON.stringify({ ...purpose, expires_at })).toString('base64url');
    return `${base_url}/${text}.${signer.sign(text)}`;
  }

  return {
    download: async ({ key: blob, filename, content_type, size_bytes }, expires_at) =>
      address({ method: 'GET', key: blob, filename, content_type, size_bytes }, expires_at),

    async upload({ key: blob, agent_id, content_type, size_bytes }, expires_at) {
      const url = address({ method: 'PUT', key: blob, agent_id, content_type, size_bytes }, expires_at);
      return { url, headers: { 'Content-Type': content_type, 'Content-Length': String(size_bytes) } };
    },

    verify(ticket) {
      const [text = '', signature = '', ...more] = ticket.split('.');
      if (more.length > 0 || !signer.verify(text, signature)) return null;
      const signed = JSON.parse(Buffer.from(text, 'base64url').toString()) as SignedPurpose & {
        expires_at: number;
      };
      return signed.expires_at > Date.now() ? signed : null;
    },
  };
}
