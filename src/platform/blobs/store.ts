import type { Readable } from 'node:stream';

/** The store answers, and has nothing under this key. Any other fault leaves open whether the bytes are there. */
export class BlobMissing extends Error {
  override name = 'BlobMissing';

  constructor(key: string) {
    super(`no bytes are stored under ${key}`);
  }
}

/** Bytes from `start` to `end`, both included, counted from 0. Both must lie within what is stored. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredBlob {
  key: string;
  /** When its bytes were written, in milliseconds, by the clock of the store. */
  written_at: number;
}

/** Stored bytes by key. A key is 32 random lower-case hexadecimal digits, never made from what a user wrote. */
export interface BlobStore {
  /**
   * Opens the bytes for reading, all of them or a part; the caller reads the stream to its end or destroys it.
   * @throws {BlobMissing} when there are none.
   */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /**
   * Stores the bytes, whole or not at all, in place of what is there; when this resolves they outlive a power cut. Takes
   * them only as fast as it can store them. What the source throws comes out as it is.
   * @param stop has what would take long given up, with its reason.
   */
  write(key: string, bytes: AsyncIterable<Uint8Array>, stop?: AbortSignal): Promise<void>;
  /** Removes the bytes. Harmless when there are none. */
  remove(key: string): Promise<void>;
  /** Up to `limit` blobs whose keys come after this one, in the order of their keys; `''` begins. */
  list(after: string, limit: number): Promise<StoredBlob[]>;
  /**
   * Finds out whether bytes can be kept here, and leaves nothing behind.
   * @throws the reason why not.
   */
  check(): Promise<void>;
  /** Removes what writes that began before this time (ms) have left unfinished: of processes that died over them. */
  removeDrafts(before: number): Promise<void>;
}

const keyPattern = /^[0-9a-f]{32}$/;

/** Whether a name is a key. What else lies in a store is not ours. */
export function isBlobKey(name: string): boolean {
  return keyPattern.test(name);
}

/**
 * Holds every store to the shape of keys, so that none can be led out of its place.
 * @throws {TypeError} for anything that is not a key.
 */
export function assertBlobKey(key: string): void {
  if (!isBlobKey(key)) throw new TypeError('a blob key is 32 lower-case hexadecimal digits');
}
