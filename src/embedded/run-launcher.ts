import { findMisspelledSettings } from '../config.ts';
import { createLogger, type Logger } from '../platform/observability/logger.ts';
import { launch } from './launch.ts';
import { LauncherError, toOneLine } from './launcher-error.ts';
import { launcherHelp } from './launcher-help.ts';
import { type Environment, readSettings } from './settings.ts';

const usage = `npm start: runs the whole service on this machine, for development and evaluation.

${launcherHelp}
npm start also reads the file .env.

Example: PORT=4000 DATA_DIR=/tmp/try npm start
`;

const stopTimeoutMs = 10_000;
/** npm forwards a Ctrl-C, so the launcher receives it twice. Only a later signal counts as the second one. */
const duplicateSignalMs = 500;

/**
 * The command line of `npm start` and `ams start`. Runs until a signal ends it, then exits the process: 0 when all parts stopped in order, 1 with one line on
 * stderr after a failure, 130 when a second Ctrl-C killed it.
 */
export async function runLauncher(args: readonly string[], env: Environment): Promise<void> {
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
      log: (line) => process.stdout.write(`${line}\n`),
      report: (line) => process.stderr.write(`${line}\n`),
    });
    const logger = createLogger({ level: settings.logLevel, part: 'launcher' });
    for (const { name, meant } of findMisspelledSettings(settings.environment))
      logger.warn({ name }, `${name} is not a setting and has no effect; did you mean ${meant}?`);
    const stopped = stopOnSignal(launched, logger);
    await Promise.race([launched.ready, stopped]);
    await stopped;
  } catch (error) {
    fail(toOneLine(error));
  }
}

/** Stops everything on a signal, after an error that nothing caught, and when a server ends. Rejects with an error while stopping. */
function stopOnSignal(launched: ReturnType<typeof launch>, logger: Logger): Promise<never> {
  let firstAt: number | null = null;
  return new Promise((_resolve, reject) => {
    const onSignal = () => {
      if (firstAt === null) {
        firstAt = Date.now();
        setTimeout(() => quit(1, 'not everything stopped within 10 s; the rest was killed'), stopTimeoutMs);
        launched.stop().then((isClean) => {
          if (!isClean) quit(1, 'not everything stopped in time; the rest was killed');
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
    const onFailure = async (error: unknown) => {
      if (!(error instanceof LauncherError)) logger.fatal({ err: error }, 'uncaught error');
      try {
        await launched.stop();
      } finally {
        launched.kill();
        reject(error);
      }
    };
    process.on('uncaughtException', (error) => void onFailure(error));
    process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
    launched.failed.catch(onFailure);
  });
}

function fail(line: string): never {
  process.stderr.write(`${line}\n`);
  process.exit(1);
}
