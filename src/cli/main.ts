#!/usr/bin/env node
import type { CommandIo } from './io.ts';

function createInterruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

/** `ams`: the operator's command line. Standard output carries the result only. */
const args = process.argv.slice(2);
const io: CommandIo = {
  env: process.env,
  input: process.stdin,
  output: process.stdout,
  print: (text) => void process.stdout.write(text),
  log: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  interruptSignal: createInterruptSignal,
};
// Clients start the bridge again and again, and wait for it; the rest takes a second to load.
const { runCommandLine } =
  args[0] === 'mcp-stdio' ? await import('./mcp-stdio.ts') : await import('./program.ts');
process.exitCode = await runCommandLine(args, io);
