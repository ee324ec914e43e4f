import { launch, type LaunchOptions } from './launch.ts';
import { toOneLine } from './launcher-error.ts';
import { type Environment, readSettings } from './settings.ts';

const usage = `npm start: runs the whole service on this machine, for development and for trying it out.

Starts PostgreSQL, a queue, a folder for attachments, one API process and one worker process, brings the schema up to
date and prints "ready" with the address. Ctrl-C stops everything in order, a second one kills.

Settings, from the environment or the file .env:
  PORT          where the API listens (3000)
  HOST          on which address (127.0.0.1)
  PUBLIC_URL    the address others use (http://localhost:PORT)
  DATA_DIR      where data and generated secrets are kept (.data)
  LOG_LEVEL     what API and worker print (warn)
  DATABASE_URL  use this PostgreSQL instead of an own one
  REDIS_URL     use this Redis instead of an own one

Example: PORT=4000 DATA_DIR=/tmp/try npm start
`;

const stopTimeoutMs = 10_000;
/** npm hands a terminal's Ctrl-C on a second time; only a later one is a person's second. */
const duplicateSignalMs = 500;

/**
 * The command line of the launcher: runs until a signal ends it, then exits the process: 0 when all stopped in order,
 * 1 with one line on stderr when something failed, 130 when a second Ctrl-C killed it.
 */
export async function runLauncher(
  entries: LaunchOptions['entries'],
  args: readonly string[],
  env: Environment,
): Promise<void> {
  // A reader that has gone away (npm start | head) must not take the service down with a stack trace.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  if (args.some((arg) => arg === '--help' || arg === '-h')) {
    process.stdout.write(usage);
    return;
  }
  if (args.length > 0) fail(`npm start takes no arguments (${args.join(' ')}); see npm start -- --help`);
  try {
    const settings = await readSettings(env);
    const launched = launch({
      settings,
      entries,
      log: (line) => process.stdout.write(`${line}\n`),
      report: (line) => process.stderr.write(`${line}\n`),
    });
    const stopped = stopOnSignal(launched);
    await Promise.race([launched.ready, stopped]);
    await stopped;
  } catch (error) {
    fail(toOneLine(error));
  }
}

function stopOnSignal(launched: ReturnType<typeof launch>): Promise<never> {
  let firstAt: number | null = null;
  return new Promise((_resolve, reject) => {
    const onSignal = () => {
      if (firstAt === null) {
        firstAt = Date.now();
        setTimeout(() => quit(1, 'not everything stopped within 10 s; the rest was killed'), stopTimeoutMs);
        launched.stop().then(() => process.exit(0), reject);
      } else if (Date.now() - firstAt > duplicateSignalMs) quit(130, 'killed');
    };
    const quit = (code: number, line: string) => {
      launched.kill();
      process.stderr.write(`${line}\n`);
      process.exit(code);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    const onFault = (fault: unknown) => {
      process.stderr.write(`${toOneLine(fault)}\n`);
      launched.stop().then(() => process.exit(1), reject);
    };
    process.on('uncaughtException', onFault);
  });
}

function fail(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
