import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto';

/** Signs text, and recognizes its signatures. */
export interface Signer {
  /** Returns base64url. */
  sign(text: string): string;
  verify(text: string, signature: string): boolean;
}

/**
 * HMAC-SHA256.
 * @param keys the first one signs, any of them verifies
 * @param length of a signature, in characters; without it, all 43
 */
export function createSigner(keys: readonly [Buffer, ...Buffer[]], length?: number): Signer {
  const imported = keys.map((key) => createSecretKey(key));
  const [own] = imported as [KeyObject];
  const signWith = (key: KeyObject, text: string): string =>
    createHmac('sha256', key).update(text).digest('base64url').slice(0, length);
  return {
    sign: (text) => signWith(own, text),
    verify(text, signature) {
      // Compared as text: a decoder of base64url ignores invalid characters.
      const received = Buffer.from(signature);
      return imported.some((key) => {
        const expected = Buffer.from(signWith(key, text));
        return received.length === expected.length && timingSafeEqual(received, expected);
      });
    },
  };
}
