import { type Config, ConfigError, findMisspelledSettings, loadConfig } from '../config.ts';
import { createLifecycle, type Lifecycle } from './lifecycle.ts';
import { createLogger } from '../platform/observability/logger.ts';

/**
 * Runs one process of the service: reads the settings, starts it, reports to the parent when it is ready, and stops it on SIGTERM, on
 * SIGINT or when the parent is gone. Only SIGTERM gives load balancers time. A repeated SIGTERM does not hasten the stop, because npm and
 * service managers send it twice. A wrong setting prints one line and exits with code 1.
 */
export async function runProcess(
  part: string,
  start: (config: Config, lifecycle: Lifecycle) => Promise<void>,
): Promise<void> {
  const config = readConfig();
  const logger = createLogger({ level: config.LOG_LEVEL, part });
  for (const { name, meant } of findMisspelledSettings(process.env)) {
    logger.warn({ name }, `${name} is not a setting and has no effect; did you mean ${meant}?`);
  }
  const lifecycle = createLifecycle(logger);
  // The launcher reads the output. When it is gone, the process still stops in order.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const end = async (reason: string, status: number, isGraceful = false) => {
    const clean = await lifecycle.stop(reason, { isGraceful });
    process.exit(clean ? status : 1);
  };
  process.on('SIGTERM', () => void end('SIGTERM', 0, true));
  process.on('SIGINT', () => void end('SIGINT', 0));
  process.once('disconnect', () => void end('the parent process is gone', 0));
  process.on('unhandledRejection', (error) => logger.error({ err: error }, 'unhandled rejection'));
  try {
    await start(config, lifecycle);
    process.send?.({ type: 'ready' });
  } catch (error) {
    logger.fatal({ err: error }, 'cannot start; "ams doctor" checks database, Redis and storage');
    await end('cannot start', 1);
  }
}

function readConfig(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${error.message}\n`);
    return process.exit(1);
  }
}
