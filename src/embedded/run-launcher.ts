import { fileURLToPath } from 'node:url';
import { launch, type LaunchOptions } from './launch.ts';
import { toOneLine } from './launcher-error.ts';
import { type Environment, readSettings } from './settings.ts';

/** What the launcher does, for the help of `npm start` and `ams start`. */
export const launcherHelp = `Starts PostgreSQL, a queue, a folder for attachments, one API process and one worker process, migrates the schema and
prints "ready" with the address. Ctrl-C stops everything in order and prints "stopped". A second Ctrl-C kills everything.

Settings, from the environment:
  PORT          port of the API (3000)
  HOST          address on which the API listens (127.0.0.1)
  PUBLIC_URL    address that clients use (http://localhost:PORT)
  DATA_DIR      folder for data and generated secrets (.data)
  LOG_LEVEL     log level of the API and the worker (warn)
  DATABASE_URL  an existing PostgreSQL, instead of the embedded one
  REDIS_URL     an existing Redis, instead of the embedded one
`;

const usage = `npm start: runs the whole service on this machine, for development and evaluation.

${launcherHelp}
npm start also reads the file .env.

Example: PORT=4000 DATA_DIR=/tmp/try npm start
`;

const resolvePath = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The programs of the service, as compiled. */
export const serviceEntries: LaunchOptions['entries'] = {
  api: resolvePath('../main.js'),
  worker: resolvePath('../../workers/main.js'),
  migrate: resolvePath('../migrate.js'),
};

const stopTimeoutMs = 10_000;
/** npm forwards a Ctrl-C, so the launcher receives it twice. Only a later signal counts as the second one. */
const duplicateSignalMs = 500;

/**
 * The command line of `npm start` and `ams start`. Runs until a signal ends it, then exits the process: 0 when all parts stopped in order, 1 with one line on
 * stderr after a failure, 130 when a second Ctrl-C killed it.
 */
export async function runLauncher(
  entries: LaunchOptions['entries'],
  args: readonly string[],
  env: Environment,
): Promise<void> {
  // The service keeps running when the reader of its output ends (npm start | head).
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
        launched.stop().then(() => {
          process.stdout.write('stopped\n');
          process.exit(0);
        }, reject);
      } else if (Date.now() - firstAt > duplicateSignalMs) quit(130, 'killed');
    };
    const quit = (code: number, line: string) => {
      launched.kill();
      process.stderr.write(`${line}\n`);
      process.exit(code);
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
    const onError = (thrown: unknown) => {
      process.stderr.write(`${toOneLine(thrown)}\n`);
      launched.stop().then(() => process.exit(1), reject);
    };
    process.on('uncaughtException', onError);
  });
}

function fail(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
