import type { Readable } from 'node:stream';
import type { ByteRange } from '../blobs/store.ts';

/**
 * What a scan found. `failed` means that the bytes are not what the record says: never that they are clean.
 */
export type Verdict =
  | { status: 'clean' }
  | { status: 'infected'; finding: string }
  | { status: 'failed'; reason: string };

/** A verdict together with the name of who gave it. */
export type ScanResult = Verdict & { scanned_by: string };

/** Stored bytes, and what their record says of them. */
export interface ScannedFile {
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  /** Opens all of them, or a part. */
  read(range?: ByteRange): Promise<Readable>;
}

/** The scanner is away, over its limits, or says what nobody understands. Nothing is known of the bytes. */
export class ScannerUnavailable extends Error {
  override name = 'ScannerAway';
}

export interface Scanner {
  /** Stands in the record as the one who judged. */
  name: string;
  /**
   * Reads the bytes, no further than it must.
   * @throws {ScannerUnavailable} and what reading the bytes throws: nothing is found yet, and a later try may.
   */
  scan(file: ScannedFile): Promise<Verdict>;
}

/** Judges stored bytes. @throws as a scanner does. */
export interface ScannerChain {
  scan(file: ScannedFile): Promise<ScanResult>;
}

/** Asks scanners one after the other, until one finds something; what is clean, the last one has judged. */
export function chainScanners(first: Scanner, ...others: readonly Scanner[]): ScannerChain {
  return {
    async scan(file) {
      let judgement: ScanResult = { ...(await first.scan(file)), scanned_by: first.name };
      for (const { name, scan } of others) {
        if (judgement.status !== 'clean') break;
        judgement = { ...(await scan(file)), scanned_by: name };
      }
      return judgement;
    },
  };
}
