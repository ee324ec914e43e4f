import { isUtf8 } from 'node:buffer';
import { fstatSync, readFileSync, statSync } from 'node:fs';
import { devNull } from 'node:os';
import type { Writable } from 'node:stream';

interface Streams {
  stdout: Writable;
  stderr: Writable;
  exit(code: number): void;
}

/** Ends a command line in one line, not with a stack trace, when its standard output cannot be written. */
export function endOnWriteError({ stdout, stderr, exit }: Streams = process): void {
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    // The reader of a pipe has ended, as in `am threads | head -1`.
    if (error.code === 'EPIPE') return exit(0);
    stderr.write(`error: standard output: ${error.message}\n`);
    exit(1);
  });
  stderr.on('error', () => undefined); // notes that no one can read
}

/** Prints to a stream. `flush` resolves when all that was printed is written, and never after a failure, which emits `error`. */
export function createPrinter(stream: Writable): {
  print: (text: string) => void;
  flush: () => Promise<void>;
} {
  let written = Promise.resolve();
  return {
    print(text) {
      written = new Promise((resolve) => {
        stream.write(text, (error) => {
          if (!error) resolve();
        });
      });
    },
    flush: () => written,
  };
}

/** Whether standard output goes to the null device. Node opens it in place of a closed one (`>&-`). */
export function isOutputDiscarded(): boolean {
  try {
    const output = fstatSync(1);
    return output.isCharacterDevice() && output.rdev === statSync(devNull).rdev;
  } catch {
    return false; // a system without such a device
  }
}

/** Whether the arguments were UTF-8. Node replaces other bytes; Linux keeps the arguments as they were. */
export function areArgumentsUtf8(args: readonly string[]): boolean {
  if (!args.some((argument) => argument.includes('\u{fffd}'))) return true;
  try {
    return isUtf8(readFileSync('/proc/self/cmdline'));
  } catch {
    return true; // another system
  }
}
