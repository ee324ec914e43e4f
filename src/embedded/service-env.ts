import { readFileSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { LauncherError } from './launcher-error.ts';
import { getErrorCode } from '../shared/narrow.ts';
import { writePrivateFile } from './private-file.ts';
import type { Environment } from './settings.ts';

const envFilePath = (dataDir: string) => join(dataDir, 'service.env');

/** Writes DATA_DIR/service.env (0600): the settings of the running service, for `ams`. */
export function writeServiceEnv(dataDir: string, values: Environment): void {
  const lines = Object.entries(values).map(([name, value = '']) => formatLine(name, value));
  writePrivateFile(envFilePath(dataDir), lines.join(''));
}

/** Removes the file when the service has stopped, so that no command uses old addresses. */
export function removeServiceEnv(dataDir: string): void {
  rmSync(envFilePath(dataDir), { force: true });
}

/**
 * Returns these variables with the settings of the service that the launcher runs with this DATA_DIR, if it runs one. Variables that are
 * set and not empty take precedence, and with DATABASE_URL nothing is added.
 * @throws {LauncherError} when the file cannot be read.
 */
export function withServiceEnv(env: Environment): Environment {
  if (env['DATABASE_URL']) return env;
  const file = envFilePath(resolve(env['DATA_DIR'] || '.data'));
  try {
    const isSet = Object.fromEntries(Object.entries(env).filter(([, value]) => value));
    return { ...env, ...parseEnv(readFileSync(file, 'utf8')), ...isSet };
  } catch (error) {
    if (getErrorCode(error) === 'ENOENT') return env;
    throw new LauncherError(
      `${file}: cannot be read (${getErrorCode(error)}); run this as the user who started the service`,
    );
  }
}

/** The format has no escapes, so a value needs a kind of quotes that does not change it. */
function formatLine(name: string, value: string): string {
  const lines = ["'", '`', '"'].map((mark) => `${name}=${mark}${value}${mark}\n`);
  const exact = lines.find((line) => parseEnv(line)[name] === value);
  if (exact !== undefined) return exact;
  throw new LauncherError(`${name}: must not contain a carriage return, or all of ' \` and "`);
}
