import {
  createCipheriv,
  createDecipheriv,
  createSecretKey,
  type KeyObject,
  randomBytes,
  hkdfSync,
} from 'node:crypto';

/** Encrypts text and binds it to its context. */
export interface SealedBox {
  /** @param about the context of the text; `open` needs the same one. */
  seal(text: string, about: string): Buffer;
  /** @throws when no key fits, the context differs, or the data was altered. */
  open(sealed: Buffer, about: string): string;
  /**
   * Seals what an older key has sealed with the first one; undefined if the first one has sealed it.
   * @throws as `open`
   */
  renew(sealed: Buffer, about: string): Buffer | undefined;
}

const nonceBytes = 12;
const tagBytes = 16;

/**
 * AES-256-GCM; the result is nonce, tag and ciphertext.
 * @param keys of 32 bytes each: the first one seals, any of them opens
 */
export function createSealedBox(keys: readonly [Buffer, ...Buffer[]]): SealedBox {
  // Importing a key takes as long as sealing a short text.
  const imported = keys.map((key) => createSecretKey(key));
  const [own] = imported as [KeyObject];

  function openWith(key: KeyObject, sealed: Buffer, about: string): string {
    const nonce = sealed.subarray(0, nonceBytes);
    const tag = sealed.subarray(nonceBytes, nonceBytes + tagBytes);
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, { authTagLength: tagBytes })
      .setAAD(Buffer.from(about))
      .setAuthTag(tag);
    const body = sealed.subarray(nonceBytes + tagBytes);
    return Buffer.concat([decipher.update(body), decipher.final()]).toString();
  }
  function openAny(sealed: Buffer, about: string): { text: string; isOwn: boolean } {
    let reason: unknown;
    for (const key of imported) {
      try {
        return { text: openWith(key, sealed, about), isOwn: key === own };
      } catch (error) {
        reason ??= error; // the next key may fit
      }
    }
    throw reason;
  }
  function seal(text: string, about: string): Buffer {
    const nonce = randomBytes(nonceBytes);
    const cipher = createCipheriv('aes-256-gcm', own, nonce).setAAD(Buffer.from(about));
    const body = Buffer.concat([cipher.update(text), cipher.final()]);
    return Buffer.concat([nonce, cipher.getAuthTag(), body]);
  }
  return {
    seal,
    open: (sealed, about) => openAny(sealed, about).text,
    renew(sealed, about) {
      const { text, isOwn } = openAny(sealed, about);
      return isOwn ? undefined : seal(text, about);
    },
  };
}

/** SECRET_KEY and its fallbacks, each the source of keys. The first one signs and encrypts; all of them verify and decrypt. */
export type Secrets = readonly [string, ...string[]];

/** Derives a 32-byte key for one purpose from each secret (RFC 5869). It reveals neither the secret nor other keys. */
export function deriveKeys([secret, ...older]: Secrets, purpose: string): [Buffer, ...Buffer[]] {
  const derive = (source: string) => Buffer.from(hkdfSync('sha256', source, '', purpose, 32));
  return [derive(secret), ...older.map(derive)];
}
