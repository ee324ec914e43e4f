import { createHash, createPrivateKey, sign } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { cachePerObject } from '../../shared/cache-per-object.ts';
import { toCanonicalJson } from '../../../packages/core/src/domain/canonical-json.ts';
import type { SigningKey } from './signing-keys.ts';

/** A detached signature of a JSON value (RFC 7515, section 7.2.2). */
export interface JsonSignature {
  protected: string;
  signature: string;
  /** Of the canonical value and the key: the same in every process, while signatures differ. */
  digest: string;
}

export type SignJson = (value: object) => JsonSignature;

const maxKept = 1_000;

/**
 * Returns a function that signs the canonical form of JSON values with ES256. An equal value is signed once with each key.
 * @param currentKey returns the key that signs now.
 * @param jku address of the public keys.
 */
export function createJsonSigner(currentKey: () => SigningKey, jku: string): SignJson {
  const kept = new LRUCache<string, JsonSignature>({ max: maxKept });
  const toKeyObject = cachePerObject((key: SigningKey) => createPrivateKey({ key, format: 'jwk' }));

  return function signJson(value) {
    const key = currentKey();
    const payload = toCanonicalJson(value);
    const digest = createHash('sha256').update(`${key.kid}.${payload}`).digest('base64url');
    const known = kept.get(digest);
    if (known) return known;
    const header = toBase64Url(JSON.stringify({ alg: 'ES256', typ: 'JOSE', kid: key.kid, jku }));
    const input = Buffer.from(`${header}.${toBase64Url(payload)}`);
    const signature = sign('sha256', input, { key: toKeyObject(key), dsaEncoding: 'ieee-p1363' });
    const signed = { protected: header, signature: signature.toString('base64url'), digest };
    kept.set(digest, signed);
    return signed;
  };
}

function toBase64Url(text: string): string {
  return Buffer.from(text).toString('base64url');
}
