import { setMaxListeners } from 'node:events';
import { oneLine } from '../../src/embedded/launcher-error.ts';
import type { Bench } from './measures.ts';
import { readOptions, usage } from './options.ts';
import { parts } from './parts.ts';
import { startStage } from './stage.ts';

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(usage);
    return;
  }
  const over = new AbortController();
  const fail = (reason: Error) => over.abort(reason);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => fail(new Error('interrupted')));
  }
  // Whoever reads may go away first, as head does: that ends the run in order, as any fault does, and nothing is left behind.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
  process.on('uncaughtException', fail);
  const { signal } = over;
  setMaxListeners(0, signal); // every wait listens to it
  const bench: Bench = {
    options,
    open: (api_arguments = []) => startStage({ ...options, api_arguments, signal, fail }),
    say: (line) => process.stderr.write(`${line}\n`),
    signal,
    fail,
  };
  try {
    const { figures, text } = await parts[options.part](bench);
    process.stdout.write(options.json ? `${JSON.stringify(figures)}\n` : text);
  } catch (error) {
    signal.throwIfAborted(); // what was first is the cause
    throw error;
  }
}

process.exit(
  await main().then(
    () => 0,
    (error: unknown) => {
      process.stderr.write(`${oneLine(error)}\n`);
      return 1;
    },
  ),
);
