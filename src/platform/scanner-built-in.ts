import { createHash } from 'node:crypto';
import type { Scanner } from './scanner.ts';

/** The signature every scanner knows, in two parts, so that no scanner takes this file for a sample. */
const eicar = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR', '-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''),
);

/** How much of the beginning is searched for the signature, in bytes. */
const searched = 4_096;

/** Always at hand: knows the EICAR test file, and compares size and SHA-256 with the record. Holds no more than a few KiB. */
export const builtInScanner: Scanner = {
  name: 'built-in',

  async scan(bytes, record) {
    const hash = createHash('sha256');
    let size = 0;
    let beginning = Buffer.alloc(0);
    for await (const chunk of bytes) {
      hash.update(chunk);
      size += chunk.byteLength;
      if (beginning.byteLength < searched) {
        beginning = Buffer.concat([beginning, chunk.subarray(0, searched - beginning.byteLength)]);
        if (beginning.includes(eicar)) return { status: 'infected', finding: 'EICAR test file' };
      }
      if (size > record.size_bytes) return { status: 'failed', reason: 'more bytes than the record says' };
    }
    if (size < record.size_bytes) return { status: 'failed', reason: 'fewer bytes than the record says' };
    if (hash.digest('hex') !== record.sha256)
      return { status: 'failed', reason: 'another SHA-256 than the record says' };
    return { status: 'clean' };
  },
};
