#!/usr/bin/env node
import open from 'open';
import type { CommandIo } from './io.ts';
import { runCommandLine } from './program.ts';
import { exitCodes } from './exit-codes.ts';
import { areArgumentsUtf8, createPrinter, endOnWriteError, isOutputDiscarded } from './standard-streams.ts';

function createInterruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

endOnWriteError();

/** `am`: the command line of an agent. Standard output carries only results. */
const io: CommandIo = {
  env: process.env,
  input: process.stdin,
  output: process.stdout,
  ...createPrinter(process.stdout),
  isOutputDiscarded: isOutputDiscarded(),
  log: (text) => void process.stderr.write(text),
  isTerminal: process.stdout.isTTY,
  interruptSignal: createInterruptSignal,
  async openPage(url) {
    const browser = await open(url);
    browser.on('error', () => undefined); // the address is printed, too
  },
};
const args = process.argv.slice(2);
if (areArgumentsUtf8(args)) process.exitCode = await runCommandLine(args, io);
else {
  io.log(
    'error: an argument is not valid UTF-8; set the locale of your terminal to UTF-8, or convert the text\n',
  );
  process.exitCode = exitCodes.usage;
}
