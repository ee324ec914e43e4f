/**
 * What a scan found. `failed` means that the bytes are not what the record says, or cannot be judged: never that they are clean.
 */
export type Verdict =
  | { status: 'clean' }
  | { status: 'infected'; finding: string }
  | { status: 'failed'; reason: string };

/** Judges stored bytes. */
export interface Scanner {
  /** Stands in the record as the one who judged. */
  name: string;
  /**
   * Reads the bytes, no further than it must, and holds them to their record.
   * @throws when the bytes cannot be read to the end, or the scanner is away: nothing is found yet, and a later try may.
   */
  scan(bytes: AsyncIterable<Uint8Array>, record: { size_bytes: number; sha256: string }): Promise<Verdict>;
}
