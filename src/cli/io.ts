import type { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';

/** What the command line has of the outside world. */
export interface CommandIo {
  env: Record<string, string | undefined>;
  input: Readable;
  /** Where results go, for a command that goes on printing. */
  output: Writable;
  /** Results. */
  print(text: string): void;
  /** Everything else. */
  log(text: string): void;
  /** Whether a person sees everything else as it comes. */
  isTerminal: boolean;
  /** From the call on, aborted by the first Ctrl-C or SIGTERM, which then ends nothing by itself. */
  interruptSignal(): AbortSignal;
}

/** The first line of the input, for secrets that must not stand in a list of processes. */
export async function readSecret({ input }: CommandIo): Promise<string> {
  const [line = ''] = (await text(input)).split(/\r?\n/);
  return line;
}
