import type { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** A file of an archive. Its name is ours, never one that somebody wrote. */
export interface ArchiveEntry {
  name: string;
  bytes: Readable;
}

/**
 * The bytes of a ZIP archive of these files, made as fast as they are taken; the next file is asked for when the one before it is read.
 * @param modified what every file says of itself.
 * @throws what the entries, or the bytes of one, throw.
 */
export async function* createZipArchive(
  entries: AsyncIterable<ArchiveEntry>,
  modified: Date,
): AsyncGenerator<Uint8Array> {
  const zip = new ZipFile();
  const output = zip.outputStream as Readable;
  const over = new AbortController();
  zip.on('error', (error: Error) => output.destroy(error));

  async function fill(): Promise<void> {
    for await (const { name, bytes } of entries) {
      try {
        zip.addReadStream(bytes, name, { mtime: modified, mode: 0o100600 });
        await finished(bytes, { signal: over.signal });
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
    // Nobody takes the rest when the reader has given up.
    over.abort();
    await filled;
  }
}
