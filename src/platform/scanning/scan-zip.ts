import { buffer } from 'node:stream/consumers';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import type { ScannedFile } from './scanner.ts';

/** The maximum number of entries, unpacked bytes, and ratio of unpacked to packed bytes. */
const limits = { entries: 10_000, unpacked: 256 * 1024 * 1024, ratio: 100 };
/** The ratio is not checked for archives with fewer unpacked bytes. */
const harmlessBytes = 16 * 1024 * 1024;
/** The number of bytes of each entry that are inspected. */
const inspectedBytes = 4_096;

/**
 * Checks the sizes of a ZIP archive, as declared and as they are, and the beginning of its entries. Holds an archive in memory: reading
 * each entry from the store would take thousands of requests.
 * @param isMalicious whether an entry with this beginning is malicious.
 * @returns the finding; null when there is none or the file is not an archive.
 * @throws the error of reading the bytes.
 */
export async function scanZip(
  file: ScannedFile,
  isMalicious: (beginning: Buffer) => boolean,
): Promise<string | null> {
  const start = locateArchive(await readTail(file), file.size_bytes);
  if (start === null) return null;
  const bytes = await buffer(await file.read({ start, end: file.size_bytes - 1 }));
  try {
    // The sizes are compared here: yauzl ends with the same error for a wrong size and for a damaged archive.
    const zip = await fromBufferPromise(bytes, { decodeStrings: false, validateEntrySizes: false });
    return await inspectEntries(zip, file, isMalicious);
  } catch (error) {
    if (error instanceof Error) return null; // not an archive, or one that cannot be unpacked
    throw error;
  }
}

/** The record at the end of an archive (APPNOTE, section 4.3.16). A comment of up to 65,535 bytes can follow it. */
const endMark = Buffer.from('PK\x05\x06');
const endBytes = 22;
const maxCommentBytes = 65_535;

async function readTail({ size_bytes, read }: ScannedFile): Promise<Buffer> {
  if (size_bytes < endBytes) return Buffer.alloc(0);
  return buffer(
    await read({ start: Math.max(0, size_bytes - endBytes - maxCommentBytes), end: size_bytes - 1 }),
  );
}

/** Where an archive begins in a file, which can have other bytes before it; null when there is no archive. */
function locateArchive(tail: Buffer, size: number): number | null {
  const at = tail.lastIndexOf(endMark, tail.byteLength - endBytes);
  if (at < 0) return null;
  const position = size - tail.byteLength + at;
  return Math.max(0, position - tail.readUInt32LE(at + 12) - tail.readUInt32LE(at + 16));
}

async function inspectEntries(
  zip: ZipFile,
  file: ScannedFile,
  isMalicious: (beginning: Buffer) => boolean,
): Promise<string | null> {
  if (zip.entryCount > limits.entries) return 'archive bomb: too many entries';
  const entries: Entry[] = [];
  let declared = 0;
  for await (const entry of zip.eachEntry()) {
    declared += entry.uncompressedSize;
    entries.push(entry);
  }
  if (declared > limits.unpacked || (declared > harmlessBytes && declared > file.size_bytes * limits.ratio)) {
    return `archive bomb: unpacks to ${declared} bytes`;
  }
  for (const entry of entries) {
    if (!entry.canDecodeFileData()) continue;
    const { hasDeclaredSize, beginning } = await unpack(zip, entry);
    if (!hasDeclaredSize) return 'archive with a false size';
    if (isMalicious(beginning)) return 'EICAR test file in an archive';
  }
  return null;
}

/**
 * Unpacks an entry, up to its declared size: what is unpacked of an archive stays within the limits. Keeps only the beginning. An entry
 * that is damaged counts as far as it can be unpacked.
 */
async function unpack(zip: ZipFile, entry: Entry): Promise<{ hasDeclaredSize: boolean; beginning: Buffer }> {
  let beginning: Buffer = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (beginning.byteLength < inspectedBytes) {
        beginning = Buffer.concat([beginning, chunk]).subarray(0, inspectedBytes);
      }
      if (size > entry.uncompressedSize) break;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return { hasDeclaredSize: size <= entry.uncompressedSize, beginning };
  }
  return { hasDeclaredSize: size === entry.uncompressedSize, beginning };
}
