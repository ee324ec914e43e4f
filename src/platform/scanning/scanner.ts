import type { Readable } from 'node:stream';
import type { ByteRange } from '../blobs/store.ts';

/** The result of a scan. `failed`: the bytes differ from the record. */
export type Verdict =
  | { status: 'clean' }
  | { status: 'infected'; finding: string }
  | { status: 'failed'; reason: string };

/** A verdict, with the name of the scanner. */
export type ScanResult = Verdict & { scanned_by: string };

/** A stored file with the size and hash of its record. */
export interface ScannedFile {
  size_bytes: number;
  /** In lower-case hexadecimal digits. */
  sha256: string;
  /** Opens the file, or a range of it. */
  read(range?: ByteRange): Promise<Readable>;
}

/** The scanner is unavailable, over its limits, or returned an unknown response. There is no verdict. */
export class ScannerUnavailable extends Error {
  override name = 'ScannerUnavailable';
}

export interface Scanner {
  /** Recorded with the verdict. */
  name: string;
  /**
   * Reads only as many bytes as necessary.
   * @throws {ScannerUnavailable}, or the error of reading the bytes: there is no verdict yet, and the scan can be retried.
   */
  scan(file: ScannedFile): Promise<Verdict>;
}

/** Scans stored files with all scanners. @throws the same errors as a scanner. */
export interface ScannerChain {
  scan(file: ScannedFile): Promise<ScanResult>;
}

/** Runs the scanners in order until one finds something. A clean file has the name of the last scanner. */
export function chainScanners(first: Scanner, ...others: readonly Scanner[]): ScannerChain {
  return {
    async scan(file) {
      let result: ScanResult = { ...(await first.scan(file)), scanned_by: first.name };
      for (const { name, scan } of others) {
        if (result.status !== 'clean') break;
        result = { ...(await scan(file)), scanned_by: name };
      }
      return result;
    },
  };
}
