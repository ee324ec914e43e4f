import type { Readable, Writable } from 'node:stream';

/** The streams, environment and signals of the command line; replaced in tests. */
export interface CommandIo {
  env: Record<string, string | undefined>;
  input: Readable;
  /** Standard output, for what is no text. */
  output: Writable;
  /** Prints results to standard output. */
  print(text: string): void;
  /** Resolves when all results are written. A failure ends the process. */
  flush(): Promise<void>;
  /** Whether the results cannot be seen: standard output is closed, or goes to the null device. */
  isOutputDiscarded: boolean;
  /** Prints notes and errors to standard error. */
  log(text: string): void;
  /** Whether standard output is a terminal: only there are colours. */
  isTerminal: boolean;
  /** Returns a signal that is aborted by the first SIGINT or SIGTERM, which then no longer ends the process. */
  interruptSignal(): AbortSignal;
  /** Shows a page to the person. */
  openPage(url: string): Promise<void>;
}
