import { createCipheriv, createDecipheriv, randomBytes, hkdfSync } from 'node:crypto';

/** Keeps text so that only who has the key reads it, and only as what it was kept for. */
export interface SealedBox {
  /** @param about what the text belongs to; it opens as nothing else. */
  seal(text: string, about: string): Buffer;
  /** @throws when it was sealed with another key, belongs to something else, or was altered. */
  open(sealed: Buffer, about: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM: nonce, tag, then the text.
 * @param key 32 bytes
 */
export function createSealedBox(key: Buffer): SealedBox {
  return {
    seal(text, about) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(text), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, about) {
      const nonce = sealed.subarray(0, nonceBytes);
      const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
      const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(about))
        .setAuthTag(tag);
      const body = sealed.subarray(nonceBytes + tagBytes);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString();
    },
  };
}

/**
 * A key of 32 bytes for one purpose, out of the one secret of the service (RFC 5869). Who learns it learns neither the secret nor
 * the key of another purpose.
 */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
