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
  /** Returns a signal that is aborted by the first SIGINT or SIGTERM, which then no longer ends the process. */
  interruptSignal(): AbortSignal;
}

/** Reads the first line of standard input, for secrets that must not appear in a process list. */
export async function readSecret({ input }: CommandIo): Promise<string> {
  const [line = ''] = (await text(input)).split(/\r?\n/);
  return line;
}
