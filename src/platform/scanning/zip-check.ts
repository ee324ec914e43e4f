import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { type Entry, fromBufferPromise, type ZipFile } from 'yauzl';
import type { ScannedFile, Scanner } from './scanner.ts';

/** The maximum number of entries, unpacked bytes, and ratio of unpacked to packed bytes. */
const limits = { entries: 10_000, unpacked: 256 * 1024 * 1024, ratio: 100 };
/** The ratio is not checked for archives with fewer unpacked bytes. */
const harmlessBytes = 16 * 1024 * 1024;

/**
 * Finds ZIP bombs and ZIP archives with false sizes, and bytes that differ from the record. It finds no malware. Needs no other service,
 * and keeps no bytes in memory, except those of archives.
 */
export const zipCheck: Scanner = {
  name: 'zip-check',
  async scan(file) {
    const reason = await compareWithRecord(file);
    if (reason !== null) return { status: 'failed', reason };
    // An archive is found by its end, because it can follow a picture in the same file.
    const finding = await checkZip(file);
    return finding === null ? { status: 'clean' } : { status: 'infected', finding };
  },
};

/** Compares size and hash with the record. Returns how they differ; null if they do not. */
async function compareWithRecord(file: ScannedFile): Promise<string | null> {
  const hash = createHash('sha256');
  let size = 0;
  for await (const chunk of (await file.read()) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    size += chunk.byteLength;
    if (size > file.size_bytes) return 'the file has more bytes than recorded';
  }
  if (size < file.size_bytes) return 'the file has fewer bytes than recorded';
  return hash.digest('hex') === file.sha256 ? null : 'the SHA-256 differs from the recorded one';
}

/**
 * Checks the sizes of a ZIP archive, as declared and as they are. Holds an archive in memory: reading each entry from the store would take
 * thousands of requests.
 * @returns the finding; null when there is none or the file is not an archive.
 * @throws the error of reading the bytes.
 */
async function checkZip(file: ScannedFile): Promise<string | null> {
  const start = locateArchive(await readTail(file), file.size_bytes);
  if (start === null) return null;
  const bytes = await buffer(await file.read({ start, end: file.size_bytes - 1 }));
  try {
    // The sizes are compared here: yauzl ends with the same error for a wrong size and for a damaged archive.
    const zip = await fromBufferPromise(bytes, { decodeStrings: false, validateEntrySizes: false });
    return await checkEntries(zip, file);
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

async function checkEntries(zip: ZipFile, file: ScannedFile): Promise<string | null> {
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
    if (!(await hasDeclaredSize(zip, entry))) return 'archive with a false size';
  }
  return null;
}

/**
 * Unpacks an entry, up to its declared size: what is unpacked of an archive stays within the limits. An entry that is damaged counts as far
 * as it can be unpacked.
 */
async function hasDeclaredSize(zip: ZipFile, entry: Entry): Promise<boolean> {
  let size = 0;
  try {
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      size += chunk.byteLength;
      if (size > entry.uncompressedSize) break;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    return size <= entry.uncompressedSize;
  }
  return size === entry.uncompressedSize;
}
