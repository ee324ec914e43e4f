import { runCommandLine } from './program.ts';

function interruption(): AbortSignal {
  const interrupted = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => interrupted.abort());
  return interrupted.signal;
}

/** `ams`: the operator's command line. Standard output carries the result only. */
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  input: process.stdin,
  print: (text) => void process.stdout.write(text),
  complain: (text) => void process.stderr.write(text),
  terminal: process.stderr.isTTY,
  interruption,
});
