import { createHash } from 'node:crypto';
import type { Scanner } from './scanner.ts';
import { scanZip } from './scan-zip.ts';

/** The EICAR test signature, in two parts, so that no scanner reports this file. */
const eicar = Buffer.from(
  ['X5O!P%@AP[4\\PZX54(P^)7CC)7}$EICAR', '-STANDARD-ANTIVIRUS-TEST-FILE!$H+H*'].join(''),
);

/** The signature is searched for in the first bytes of a file. */
const searchedBytes = 4_096;

const infected = { status: 'infected', finding: 'EICAR test file' } as const;

/**
 * Needs no other service. Detects the EICAR test file, alone and in a ZIP archive, ZIP bombs, and bytes that differ from the record.
 * Keeps only a few KiB in memory, except of archives.
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
      if (size > file.size_bytes)
        return { status: 'failed', reason: 'the file has more bytes than recorded' };
    }
    if (size < file.size_bytes) return { status: 'failed', reason: 'the file has fewer bytes than recorded' };
    if (hash.digest('hex') !== file.sha256) {
      return { status: 'failed', reason: 'the SHA-256 differs from the recorded one' };
    }
    // An archive is found by its end, because it can follow a picture in the same file.
    const finding = await scanZip(file, (content) => content.includes(eicar));
    return finding === null ? { status: 'clean' } : { status: 'infected', finding };
  },
};

/** Collects up to `maxBytes` bytes. */
function createPrefixCollector(maxBytes: number) {
  let prefix: Buffer = Buffer.alloc(0);
  return {
    take(chunk: Buffer): Buffer {
      if (prefix.byteLength < maxBytes) {
        prefix = Buffer.concat([prefix, chunk.subarray(0, maxBytes - prefix.byteLength)]);
      }
      return prefix;
    },
  };
}
