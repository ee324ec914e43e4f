import { randomUUID } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { access, open, rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';
import { describeError } from '../../shared/error-log.ts';

/** In the same folder, so that the rename is atomic. */
const draftPath = (file: string): string => `${file}.${randomUUID()}.part`;

/**
 * Checks that a new file can be written, before a long export begins. Leaves no file.
 * @throws if the file exists or cannot be written
 */
export async function requireWritable(file: string): Promise<void> {
  const exists = await access(file).then(
    () => true,
    () => false,
  );
  if (exists) throw new Error(`${file} already exists; choose another name`);
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

/** Writes a file with mode 0600, and renames it when it is complete. Errors of the source are thrown unchanged. */
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
