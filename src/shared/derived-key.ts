import { hkdfSync } from 'node:crypto';

/**
 * A key of 32 bytes for one purpose, out of the one secret of the service (RFC 5869). Who learns it learns neither the secret nor
 * the key of another purpose.
 */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
