import { setMaxListeners } from 'node:events';
import { toOneLine } from '../src/embedded/launcher-error.ts';
import type { Bench } from './measurements.ts';
import { readOptions, usage } from './options.ts';
import { suites } from './suites.ts';
import { startEnvironment } from './environment.ts';

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
    startedEnvironments: (api_arguments = []) =>
      startEnvironment({ ...options, api_arguments, signal, fail }),
    log: (line) => process.stderr.write(`${line}\n`),
    signal,
    fail,
  };
  try {
    const { figures, text } = await suites[options.part](bench);
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
      process.stderr.write(`${toOneLine(error)}\n`);
      return 1;
    },
  ),
);
