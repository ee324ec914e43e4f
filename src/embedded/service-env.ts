import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { LauncherError } from './launcher-error.ts';
import { writePrivateFile } from './private-file.ts';

const envFilePath = (dataDir: string) => join(dataDir, 'service.env');

/** Writes DATA_DIR/service.env (0600): the settings that `npm run ams` needs to reach the running service. */
export function writeServiceEnv(dataDir: string, values: Record<string, string>): void {
  const lines = Object.entries(values).map(([name, value]) => `${name}=${quote(name, value)}\n`);
  writePrivateFile(envFilePath(dataDir), lines.join(''));
}

/** Removes the file when the service has stopped, so that no command uses old addresses. */
export function removeServiceEnv(dataDir: string): void {
  rmSync(envFilePath(dataDir), { force: true });
}

/** loadEnvFile has no escapes, so the quotes must not occur in the value. */
function quote(name: string, value: string): string {
  const mark = ["'", '`'].find((candidate) => !value.includes(candidate));
  if (mark === undefined || value.includes('\n')) {
    throw new LauncherError(`${name}: must not contain a line break or both ' and \``);
  }
  return `${mark}${value}${mark}`;
}
