import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { describeError } from '../../shared/error-log.ts';

/** Beside the file: to rename it costs nothing there. */
const draftPath = (file: string): string => `${file}.${randomUUID()}.part`;

/**
 * Finds out whether a file can be written before hours go into what it is to hold. Leaves nothing behind.
 * @throws {Error} when there is something of this name, or nothing can be written there.
 */
export async function requireWritable(file: string): Promise<void> {
  const there = await access(file).then(
    () => true,
    () => false,
  );
  if (there) throw new Error(`${file} is there already; name a new file`);
  const draft = draftPath(file);
  try {
    await (await open(draft, 'wx', 0o600)).close();
  } catch (error) {
    throw new Error(`cannot write ${file}: ${describeError(error).replaceAll(draft, file)}`, {
      cause: error,
    });
  }
  await rm(draft);
}

/** Writes a file that comes under its name only when it is whole, and is for its owner only. What the source throws comes out as it is. */
export async function writeNewFile(file: string, bytes: AsyncIterable<Uint8Array>): Promise<void> {
  const draft = draftPath(file);
  try {
    await pipeline(bytes, createWriteStream(draft, { flags: 'wx', mode: 0o600 }));
    await rename(draft, file);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}
