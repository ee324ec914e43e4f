import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { LauncherError } from './launcher-error.ts';
import { writePrivateFile } from './private-file.ts';

const fileIn = (dataDir: string) => join(dataDir, 'service.env');

/** Writes what `npm run ams` and the like need to reach the running service: DATA_DIR/service.env, 0600, for loadEnvFile. */
export function writeServiceEnv(dataDir: string, values: Record<string, string>): void {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quote(name, value)}\n`);
  writePrivateFile(fileIn(dataDir), lines.join(''));
}

/** Removes the file when the service has stopped, so that no command uses old addresses. */
export function removeServiceEnv(dataDir: string): void {
  rmSync(fileIn(dataDir), { force: true });
}

/** loadEnvFile has no escapes: a value stands between quotes it does not hold itself. */
function quote(name: string, value: string): string {
  const mark = ["'", '`'].find((candidate) => !value.includes(candidate));
  if (mark === undefined || value.includes('\n')) {
    throw new LauncherError(
      `${name}: holds both kinds of quotes or a line break, which a settings file cannot`,
    );
  }
  return `${mark}${value}${mark}`;
}
