import type { Readable } from 'node:stream';

/** The store has nothing under this key. After any other error it is unknown whether the bytes exist. */
export class BlobMissing extends Error {
  override name = 'BlobMissing';

  constructor(key: string) {
    super(`no bytes are stored under ${key}`);
  }
}

/** A range of bytes from `start` to `end`, inclusive, counted from 0. It has to lie within the stored bytes. */
export interface ByteRange {
  start: number;
  end: number;
}

export interface StoredBlob {
  key: string;
  /** When it was written, in milliseconds by the clock of the store. */
  written_at: number;
}

/** Stored bytes by key. A key is 32 random lower-case hexadecimal digits. */
export interface BlobStore {
  /**
   * Opens the bytes, all or a range. The caller reads the stream to its end or destroys it.
   * @throws {BlobMissing} when they do not exist.
   */
  read(key: string, range?: ByteRange): Promise<Readable>;
  /**
   * Stores the bytes atomically and replaces earlier ones. When this resolves, they survive a power failure. It applies back pressure and
   * rethrows errors of the source.
   * @param stop aborts a long upload with its reason.
   */
  write(key: string, bytes: AsyncIterable<Uint8Array>, stop?: AbortSignal): Promise<void>;
  /** Removes the bytes, if they exist. */
  remove(key: string): Promise<void>;
  /** Up to `limit` blobs with keys after this one, in order of their keys; `''` starts. */
  list(after: string, limit: number): Promise<StoredBlob[]>;
  /**
   * Checks that bytes can be stored, and leaves nothing.
   * @throws the reason.
   */
  check(): Promise<void>;
  /** Removes incomplete writes that began before this time (ms). */
  removeDrafts(before: number): Promise<void>;
}

const keyPattern = /^[0-9a-f]{32}$/;

/** Whether a name is a blob key. A store may hold other names too. */
export function isBlobKey(name: string): boolean {
  return keyPattern.test(name);
}

/** @throws {TypeError} for anything that is not a key, so that no key leads to another path. */
export function assertBlobKey(key: string): void {
  if (!isBlobKey(key)) throw new TypeError('a blob key is 32 lower-case hexadecimal digits');
}
