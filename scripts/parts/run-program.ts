import { setMaxListeners } from 'node:events';
import { toOneLine } from '../../src/embedded/launcher-error.ts';

export interface Program {
  /** Aborts when something fails outside of the calls of the program, or when it is interrupted. */
  signal: AbortSignal;
  /** Ends the program: the first failure is the cause. */
  fail(reason: unknown): void;
  /** Prints a line on stderr. */
  log(line: string): void;
}

/** Runs a program, which stops what it started once `signal` aborts. Exits with its code, or with 1 and the failure as one line. */
export async function runProgram(main: (program: Program) => Promise<number>): Promise<never> {
  const abort = new AbortController();
  const { signal } = abort;
  setMaxListeners(0, signal); // every wait adds a listener
  const log = (line: string) => void process.stderr.write(`${line}\n`);
  const fail = (reason: unknown) => abort.abort(reason instanceof Error ? reason : new Error(String(reason)));
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
    process.on(name, () => fail(new Error('interrupted')));
  process.on('disconnect', () => fail(new Error('the parent process exited')));
  // The reader of the output can close it first, as `head` does.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  try {
    process.exit(await main({ signal, fail, log }));
  } catch (error) {
    log(toOneLine(signal.aborted ? signal.reason : error));
    process.exit(1);
  }
}
