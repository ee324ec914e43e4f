import type { Readable } from 'node:stream';

/** The store answers, and has nothing under this key. Any other fault leaves open whether the bytes are there. */
export class BlobMissing extends Error {
  override name = 'BlobMissing';

  constructor(key: string) {
    super(`no bytes are stored under ${key}`);
  }
}

/** Stored bytes by key. A key is 32 random lower-case hexadecimal digits, never made from what a user wrote. */
export interface Blobs {
  /**
   * Opens the bytes for reading; the caller reads the stream to its end or destroys it.
   * @throws {BlobMissing} when there are none.
   */
  read(key: string): Promise<Readable>;
  /**
   * Stores the bytes, whole or not at all, in place of what is there; when this resolves they outlive a power cut. Takes
   * them only as fast as it can store them.
   */
  write(key: string, bytes: AsyncIterable<Uint8Array>): Promise<void>;
  /** Removes the bytes. Harmless when there are none. */
  remove(key: string): Promise<void>;
}

/**
 * Holds every store to the shape of keys, so that none can be led out of its place.
 * @throws {TypeError} for anything that is not a key.
 */
export function assertBlobKey(key: string): void {
  if (!/^[0-9a-f]{32}$/.test(key)) throw new TypeError('a blob key is 32 lower-case hexadecimal digits');
}
