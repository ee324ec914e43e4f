import { PassThrough, pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import type { ScannedFile } from './scanner.ts';

/** The maximum number of entries, unpacked bytes, and ratio of unpacked to packed bytes. */
const limits = { entries: 10_000, unpacked: 256 * 1024 * 1024, ratio: 100 };
/** The ratio is not checked for archives with fewer unpacked bytes. */
const harmlessBytes = 16 * 1024 * 1024;
/** The number of entries that are inspected, and the number of bytes of each. */
const inspected = { entries: 200, bytes: 4_096 };

/**
 * Checks the declared size of a ZIP archive and the beginning of its entries.
 * @param isMalicious whether an entry with this beginning is malicious.
 * @returns the finding; null when there is none or the file is not an archive.
 * @throws the error of reading the bytes.
 */
export async function scanZip(
  file: ScannedFile,
  isMalicious: (beginning: Buffer) => boolean,
): Promise<string | null> {
  const tail = await readTail(file);
  const place = locateArchive(tail, file.size_bytes);
  if (place === null) return null;
  const reader = new BlobReader(file, place.start);
  try {
    const options = { autoClose: false, lazyEntries: true, decodeStrings: false };
    const zip = await fromRandomAccessReaderPromise(reader, place.end - place.start, options);
    const finding = await inspectEntries(zip, file, isMalicious);
    if (reader.readError !== undefined) throw reader.readError;
    return finding;
  } catch (error) {
    if (reader.readError !== undefined) throw reader.readError;
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

/** The range of an archive in a file, which can have other bytes before it; null when there is no archive. */
function locateArchive(tail: Buffer, size: number): { start: number; end: number } | null {
  const at = tail.lastIndexOf(endMark, tail.byteLength - endBytes);
  if (at < 0) return null;
  const position = size - tail.byteLength + at;
  const start = position - tail.readUInt32LE(at + 12) - tail.readUInt32LE(at + 16);
  return { start: Math.max(0, start), end: size };
}

async function inspectEntries(
  zip: ZipFile,
  file: ScannedFile,
  isMalicious: (beginning: Buffer) => boolean,
): Promise<string | null> {
  if (zip.entryCount > limits.entries) return 'archive bomb: too many entries';
  const entries: Entry[] = [];
  let unpacked = 0;
  for await (const entry of zip.eachEntry()) {
    unpacked += entry.uncompressedSize;
    if (entries.length < inspected.entries) entries.push(entry);
  }
  if (unpacked > limits.unpacked || (unpacked > harmlessBytes && unpacked > file.size_bytes * limits.ratio)) {
    return `archive bomb: unpacks to ${unpacked} bytes`;
  }
  for (const entry of entries) {
    if (entry.canDecodeFileData() && isMalicious(await readBeginning(zip, entry)))
      return 'EICAR test file in an archive';
  }
  return null;
}

/** The first bytes of an entry; empty when it cannot be unpacked. */
async function readBeginning(zip: ZipFile, entry: Entry): Promise<Buffer> {
  let beginning: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      beginning = Buffer.concat([beginning, chunk]).subarray(0, inspected.bytes);
      if (beginning.byteLength === inspected.bytes) break;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  return beginning;
}

/** Reads ranges of the archive from the blob store. */
class BlobReader extends RandomAccessReader {
  readonly #file: ScannedFile;
  readonly #start: number;
  /** The error of the blob store, if any. Errors in the archive do not count. */
  readError: unknown;

  constructor(file: ScannedFile, start: number) {
    super();
    this.#file = file;
    this.#start = start;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const out = new PassThrough();
    const last = this.#start + end - 1;
    if (last >= this.#file.size_bytes)
      return out.destroy(new Error('the archive refers to bytes after its end'));
    this.#file.read({ start: this.#start + start, end: last }).then(
      // A reader that has enough closes the stream early. Every other error comes from the store, and destroys `out` too.
      (part) => pipeline(part, out, (error) => error && this.#recordError(error)),
      (error: Error) => {
        this.#recordError(error);
        out.destroy(error);
      },
    );
    return out;
  }

  #recordError(error: NodeJS.ErrnoException): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') this.readError = error;
  }
}
