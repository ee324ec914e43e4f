#!/usr/bin/env node
import nodeModule from 'node:module';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { endOnWriteError } from '../../packages/client/src/cli/standard-streams.ts';
import type { CommandIo } from './io.ts';

function createInterruptSignal(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

/** Reads a line from the terminal without showing what is typed. */
async function askSecret(question: string): Promise<string> {
  process.stderr.write(question);
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() });
  const reader = createInterface({ input: process.stdin, output: silent, terminal: true });
  try {
    return await reader.question('');
  } finally {
    reader.close();
    process.stderr.write('\n');
  }
}

endOnWriteError();
// Since Node 22.1: most of a command's time is spent on loading modules, and compiled ones load faster.
(nodeModule as { enableCompileCache?(folder: string): unknown }).enableCompileCache?.(
  // Not a shared temporary folder: other users could replace the compiled code.
  fileURLToPath(new URL('../../../.cache/compiled', import.meta.url)),
);

/** `ams`: the operator's command line. Standard output carries only results. */
const args = process.argv.slice(2);
const io: CommandIo = {
  env: process.env,
  input: process.stdin,
  output: process.stdout,
  print: (text) => void process.stdout.write(text),
  log: (text) => void process.stderr.write(text),
  isTerminal: process.stderr.isTTY,
  columns: process.stdout.isTTY ? process.stdout.columns : undefined,
  askSecret: process.stdin.isTTY ? askSecret : undefined,
  interruptSignal: createInterruptSignal,
};
/** The other commands load the whole service, which takes a second. MCP clients start the bridge often and wait for it. */
const light = new Set(['mcp-stdio', 'start', '--version', '-V']);
const { runCommandLine } = light.has(args[0] ?? '')
  ? await import('./light.ts')
  : await import('./program.ts');
process.exitCode = await runCommandLine(args, io);
