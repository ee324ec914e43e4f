import { isUtf8 } from 'node:buffer';
import { buffer as readBytes } from 'node:stream/consumers';
import { CommandError, exitCodes } from './exit-codes.ts';
import type { CommandIo } from './io.ts';

/** The text of standard input without its last line break. @throws {CommandError} when it is not UTF-8 */
export async function readInput({ input }: CommandIo): Promise<string> {
  const bytes = await readBytes(input);
  if (isUtf8(bytes)) return new TextDecoder().decode(bytes).replace(/\r?\n$/, '');
  throw new CommandError(
    'standard input is not valid UTF-8; convert it, for example with iconv, or send the file with --attach',
    exitCodes.usage,
  );
}
