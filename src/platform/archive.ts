import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A file in an archive. The service chooses its name. */
export interface ArchiveEntry {
  name: string;
  bytes: Readable;
}

/**
 * Streams a ZIP archive at the speed of its reader; the next entry is requested after the previous one was read.
 * @param modified the modification time of every entry.
 * @throws what the entries or their streams throw.
 */
export async function* createZipArchive(
  entries: AsyncIterable<ArchiveEntry>,
  modified: Date,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const readerStopped = new AbortController();
  zip.on('error', (error: Error) => output.destroy(error));

  async function fill(): Promise<void> {
    for await (const { name, bytes } of entries) {
      try {
        zip.addReadStream(bytes, name, { mtime: modified, mode: 0o100600 });
        await finished(bytes, { signal: readerStopped.signal });
      } finally {
        bytes.destroy();
      }
    }
    zip.end();
  }

  const filled = fill().catch((error: Error) => void output.destroy(error));
  try {
    yield* output;
  } finally {
    // The reader has stopped: the rest is not needed.
    readerStopped.abort();
    await filled;
  }
}
