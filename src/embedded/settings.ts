import { resolve } from 'node:path';
import { loadConfig } from '../config.ts';
import { LauncherError } from './launcher-error.ts';
import { findFreePort, findPortProblem } from './ports.ts';

export type Environment = Partial<Record<string, string>>;

export interface Settings {
  host: string;
  port: number;
  publicUrl: string;
  /** Absolute. */
  dataDir: string;
  logLevel: string;
  /** Without empty variables. The launcher starts or generates what DATABASE_URL, REDIS_URL and SECRET_KEY do not set. */
  environment: Environment;
}

/** The launcher generates the key itself. */
const placeholderKey = 'a placeholder of sufficient length';

/**
 * Reads the launcher's settings with the defaults of the embedded mode: loopback, `.data`, quiet logs. PORT 0 becomes a
 * free port.
 * @throws {ConfigError} one line that names the first invalid setting.
 */
export async function readSettings(env: Environment): Promise<Settings> {
  const environment = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const port = environment['PORT'] === '0' ? String(await findFreePort()) : environment['PORT'];
  const config = loadConfig({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    ...environment,
    PORT: port,
    // Placeholders, so that the other settings are checked before any part starts.
    DATABASE_URL: environment['DATABASE_URL'] ?? 'postgres://127.0.0.1',
    SECRET_KEY: environment['SECRET_KEY'] ?? placeholderKey,
  });
  return {
    host: config.HOST,
    port: config.PORT,
    publicUrl: config.PUBLIC_URL,
    dataDir: resolve(config.DATA_DIR),
    logLevel: config.LOG_LEVEL,
    environment,
  };
}

/**
 * Checks that the API can listen on its port.
 * @throws {LauncherError} one line that names the port and how to choose another.
 */
export async function checkPort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<void> {
  const reason = await findPortProblem(host, port);
  if (reason === null) return;
  if (reason === 'EADDRINUSE') {
    throw new LauncherError(
      `PORT: ${port} on ${host} is taken; choose another, for example PORT=${port < 65_535 ? port + 1 : 3000}`,
    );
  }
  if (reason === 'EACCES') {
    throw new LauncherError(
      `PORT: ${port} is not allowed for this user; choose one above 1023, for example PORT=3000`,
    );
  }
  throw new LauncherError(`HOST: cannot listen on ${host} port ${port} (${reason})`);
}
