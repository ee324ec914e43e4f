#!/usr/bin/env node
import open from 'open';
import type { CommandIo } from './io.ts';
import { runCommandLine } from './program.ts';

function createInterruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

// The reader of a pipe has ended, as in `am threads | head -1`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit();
});

/** `am`: the command line of an agent. Standard output carries only results. */
const io: CommandIo = {
  env: process.env,
  input: process.stdin,
  output: process.stdout,
  print: (text) => void process.stdout.write(text),
  log: (text) => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
  interruptSignal: createInterruptSignal,
  async openPage(url) {
    const browser = await open(url);
    browser.on('error', () => undefined); // the address is printed, too
  },
};
process.exitCode = await runCommandLine(process.argv.slice(2), io);
