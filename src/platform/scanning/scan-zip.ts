import { PassThrough, pipeline, type Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { type Entry, fromRandomAccessReaderPromise, RandomAccessReader, type ZipFile } from 'yauzl';
import type { ScannedFile } from './scanner.ts';

/** What an archive may hold: entries, bytes once unpacked, and how many times its own size that is. */
const limits = { entries: 10_000, unpacked: 256 * 1024 * 1024, ratio: 100 };
/** An archive below this, in bytes once unpacked, harms nobody, whatever it was packed from. */
const harmlessBytes = 16 * 1024 * 1024;
/** How many entries are looked into, and how many bytes of each. */
const inspected = { entries: 200, bytes: 4_096 };

/**
 * Looks whether bytes are a ZIP archive, into what it says of its size, and into the beginning of what it holds.
 * @param isBad whether an entry that begins so is malicious.
 * @returns what was found; null when nothing, and for what is no archive.
 * @throws what reading the bytes throws.
 */
export async function scanZip(file: ScannedFile, isBad: (head: Buffer) => boolean): Promise<string | null> {
  const tail = await readTail(file);
  const place = locateArchive(tail, file.size_bytes);
  if (place === null) return null;
  const reader = new BlobReader(file, place.start);
  try {
    const options = { autoClose: false, lazyEntries: true, decodeStrings: false };
    const zip = await fromRandomAccessReaderPromise(reader, place.end - place.start, options);
    const finding = await inspectEntries(zip, file, isBad);
    if (reader.fault !== undefined) throw reader.fault;
    return finding;
  } catch (error) {
    if (reader.fault !== undefined) throw reader.fault;
    if (error instanceof Error) return null; // no archive, or none that can be unpacked
    throw error;
  }
}

/** The record at the end of an archive (APPNOTE, section 4.3.16), and the longest comment behind it. */
const endMark = Buffer.from('PK\x05\x06');
const endBytes = 22;
const maxCommentBytes = 65_535;

async function readTail({ size_bytes, read }: ScannedFile): Promise<Buffer> {
  if (size_bytes < endBytes) return Buffer.alloc(0);
  return buffer(
    await read({ start: Math.max(0, size_bytes - endBytes - maxCommentBytes), end: size_bytes - 1 }),
  );
}

/** Where in a file an archive begins and ends, whatever stands before it; null when there is none. */
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
  isBad: (head: Buffer) => boolean,
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
    if (entry.canDecodeFileData() && isBad(await readHead(zip, entry)))
      return 'EICAR test file in an archive';
  }
  return null;
}

/** How an entry begins; empty where it cannot be unpacked. */
async function readHead(zip: ZipFile, entry: Entry): Promise<Buffer> {
  let head: Buffer = Buffer.alloc(0);
  try {
    for await (const chunk of (await zip.openReadStreamPromise(entry)) as AsyncIterable<Buffer>) {
      head = Buffer.concat([head, chunk]).subarray(0, inspected.bytes);
      if (head.byteLength === inspected.bytes) break;
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
  }
  return head;
}

/** Lets the archive be read in parts, where it lies. */
class BlobReader extends RandomAccessReader {
  readonly #file: ScannedFile;
  readonly #start: number;
  /** What reading the bytes failed with; what is wrong with the archive is none. */
  fault: unknown;

  constructor(file: ScannedFile, start: number) {
    super();
    this.#file = file;
    this.#start = start;
  }

  override _readStreamForRange(start: number, end: number): Readable {
    const out = new PassThrough();
    const last = this.#start + end - 1;
    if (last >= this.#file.size_bytes) return out.destroy(new Error('the archive points outside of itself'));
    this.#file.read({ start: this.#start + start, end: last }).then(
      // Who has seen enough closes it early; every other fault is one of the store, and ends `out` too.
      (part) => pipeline(part, out, (error) => error && this.#note(error)),
      (error: Error) => {
        this.#note(error);
        out.destroy(error);
      },
    );
    return out;
  }

  #note(error: NodeJS.ErrnoException): void {
    if (error.code !== 'ERR_STREAM_PREMATURE_CLOSE') this.fault = error;
  }
}
