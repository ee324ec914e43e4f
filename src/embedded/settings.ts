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
  /** Given from outside; without one the launcher starts or makes its own. */
  databaseUrl: string | undefined;
  redisUrl: string | undefined;
  secretKey: string | undefined;
  /** Everything the children get besides what the launcher adds. */
  environment: Environment;
}

/**
 * Reads the launcher's settings with the defaults of the embedded mode: loopback, `.data`, quiet logs. PORT 0 becomes a
 * free port.
 * @throws {ConfigError} one line that names the first setting that is wrong.
 */
export async function readSettings(env: Environment): Promise<Settings> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const port = given['PORT'] === '0' ? String(await findFreePort()) : given['PORT'];
  const config = loadConfig({
    HOST: '127.0.0.1',
    LOG_LEVEL: 'warn',
    ...given,
    PORT: port,
    // The real ones are made once the parts run; these only let the rest be checked before anything is started.
    DATABASE_URL: given['DATABASE_URL'] ?? 'postgres://127.0.0.1',
    SECRET_KEY: given['SECRET_KEY'] ?? '-'.repeat(32),
  });
  return {
    host: config.HOST,
    port: config.PORT,
    publicUrl: config.PUBLIC_URL,
    dataDir: resolve(config.DATA_DIR),
    logLevel: config.LOG_LEVEL,
    databaseUrl: given['DATABASE_URL'],
    redisUrl: given['REDIS_URL'],
    secretKey: given['SECRET_KEY'],
    environment: given,
  };
}

/**
 * Makes sure that the API will be able to listen.
 * @throws {LauncherError} one line that names the port and says how to choose another.
 */
export async function checkPort({ host, port }: Pick<Settings, 'host' | 'port'>): Promise<void> {
  const reason = await findPortProblem(host, port);
  if (reason === null) return;
  if (reason === 'EADDRINUSE') {
    throw new LauncherError(
      `PORT: ${port} on ${host} is taken; choose another, for example PORT=${port < 65_535 ? port + 1 : 3000} npm start`,
    );
  }
  if (reason === 'EACCES') {
    throw new LauncherError(
      `PORT: ${port} is not allowed for this user; choose one above 1023, for example PORT=3000 npm start`,
    );
  }
  throw new LauncherError(`HOST: cannot listen on ${host} port ${port} (${reason})`);
}
