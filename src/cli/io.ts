import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** The streams, environment and signals of the command line; replaced in tests. */
export interface CommandIo {
  env: Record<string, string | undefined>;
  input: Readable;
  /** Standard output, for commands that stream results. */
  output: Writable;
  /** Prints results to standard output. */
  print(text: string): void;
  /** Prints notes, progress and errors to standard error. */
  log(text: string): void;
  /** Whether standard error is a terminal. */
  isTerminal: boolean;
  /** The width of the terminal in characters, if standard output is one. */
  columns?: number | undefined;
  /** Asks on the terminal without showing what is typed; absent if standard input is not a terminal. */
  askSecret?: ((question: string) => Promise<string>) | undefined;
  /** Returns a signal that is aborted by the first SIGINT or SIGTERM, which then no longer ends the process. */
  interruptSignal(): AbortSignal;
}

/**
 * Asks twice for a new password on the terminal.
 * @throws {Error} without a terminal, and if the two differ.
 */
export async function askNewPassword({ askSecret }: CommandIo): Promise<string> {
  if (!askSecret)
    throw new Error('standard input is not a terminal; give the password with --password-stdin');
  const password = await askSecret('New password: ');
  if ((await askSecret('Repeat the password: ')) === password) return password;
  throw new Error('the passwords differ; nothing was changed');
}

/** Reads the first line of standard input, for secrets that must not appear in a process list. */
export async function readSecret({ input }: CommandIo): Promise<string> {
  const [line = ''] = (await text(input)).split(/\r?\n/);
  return line;
}
