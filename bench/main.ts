import { setMaxListeners } from 'node:events';
import { toOneLine } from '../src/embedded/launcher-error.ts';
import { readOptions, usage } from './options.ts';
import { runMeasurement } from './start/service.ts';
import { suites } from './suites/suites.ts';

async function main(): Promise<void> {
  const options = readOptions();
  if (options.help) {
    process.stdout.write(usage);
    return;
  }
  const abort = new AbortController();
  const fail = (reason: Error) => abort.abort(reason);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => fail(new Error('interrupted')));
  }
  // The reader of the output can close it first, as `head` does. The run then stops in order, as after any failure.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', fail);
  process.on('uncaughtException', fail);
  const { signal } = abort;
  setMaxListeners(0, signal); // every wait adds a listener
  const log = (line: string) => process.stderr.write(`${line}\n`);
  try {
    const { figures, text } = await runMeasurement({ options, log, signal, fail }, suites[options.part]);
    process.stdout.write(options.json ? `${JSON.stringify(figures)}\n` : text);
  } catch (error) {
    signal.throwIfAborted(); // the first failure is the cause
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
