import { createCipheriv, createDecipheriv, createSecretKey, randomBytes, hkdfSync } from 'node:crypto';

/** Encrypts text and binds it to its context. */
export interface SealedBox {
  /** @param about the context of the text; `open` needs the same one. */
  seal(text: string, about: string): Buffer;
  /** @throws when the key or the context differs, or the data was altered. */
  open(sealed: Buffer, about: string): string;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM; the result is nonce, tag and ciphertext.
 * @param key 32 bytes
 */
export function createSealedBox(key: Buffer): SealedBox {
  // Importing the key takes as long as sealing a short text.
  const secretKey = createSecretKey(key);
  return {
    seal(text, about) {
      const nonce = randomBytes(nonceBytes);
      const cipher = createCipheriv('aes-256-gcm', secretKey, nonce).setAAD(Buffer.from(about));
      const body = Buffer.concat([cipher.update(text), cipher.final()]);
      return Buffer.concat([nonce, cipher.getAuthTag(), body]);
    },
    open(sealed, about) {
      const nonce = sealed.subarray(0, nonceBytes);
      const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
      const decipher = createDecipheriv('aes-256-gcm', secretKey, nonce, { authTagLength: tagBytes })
        .setAAD(Buffer.from(about))
        .setAuthTag(tag);
      const body = sealed.subarray(nonceBytes + tagBytes);
      return Buffer.concat([decipher.update(body), decipher.final()]).toString();
    },
  };
}

/** Derives a 32-byte key for one purpose from the secret of the service (RFC 5869). It reveals neither the secret nor other keys. */
export function deriveKey(secret: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secret, '', purpose, 32));
}
