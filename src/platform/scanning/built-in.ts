import { createHash } from 'node:crypto';
import type { Scanner } from './scanner.ts';
import { scanZip } from './scan-zip.ts';

/** The signature every scanner knows, in two parts, so that no scanner takes this file for a sample. */
const eicar = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR', '-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''),
);

/** How much of the beginning is searched for the signature, in bytes. */
const searchedBytes = 4_096;

const infected = { status: 'infected', finding: 'EICAR test file' } as const;

/**
 * Always at hand: knows the EICAR test file, alone and in a ZIP archive, archives that would unpack to far more than they are, and
 * bytes that are not those of the record. Holds no more than a few KiB.
 */
export const builtInScanner: Scanner = {
  name: 'built-in',

  async scan(file) {
    const hash = createHash('sha256');
    const beginning = createPrefixCollector(searchedBytes);
    let size = 0;
    for await (const chunk of (await file.read()) as AsyncIterable<Buffer>) {
      hash.update(chunk);
      size += chunk.byteLength;
      if (beginning.take(chunk).includes(eicar)) return infected;
      if (size > file.size_bytes) return { status: 'failed', reason: 'more bytes than the record says' };
    }
    if (size < file.size_bytes) return { status: 'failed', reason: 'fewer bytes than the record says' };
    if (hash.digest('hex') !== file.sha256) {
      return { status: 'failed', reason: 'another SHA-256 than the record says' };
    }
    // Whatever it begins with: an archive is found by its end, and may stand behind a picture.
    const finding = await scanZip(file, (head) => head.includes(eicar));
    return finding === null ? { status: 'clean' } : { status: 'infected', finding };
  },
};

/** Gathers up to so many bytes. */
function createPrefixCollector(most: number) {
  let gathered: Buffer = Buffer.alloc(0);
  return {
    take(chunk: Buffer): Buffer {
      if (gathered.byteLength < most) {
        gathered = Buffer.concat([gathered, chunk.subarray(0, most - gathered.byteLength)]);
      }
      return gathered;
    },
  };
}
