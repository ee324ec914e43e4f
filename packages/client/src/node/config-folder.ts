import { homedir } from 'node:os';
import { join } from 'node:path';

/** Returns the configuration folder of the user, as is usual on the platform. */
export function configFolder(env: Record<string, string | undefined>, platform: NodeJS.Platform): string {
  const { AMS_CONFIG_DIR, XDG_CONFIG_HOME, APPDATA } = env;
  if (AMS_CONFIG_DIR) return AMS_CONFIG_DIR;
  if (platform === 'win32' && APPDATA) return join(APPDATA, 'ams');
  return join(XDG_CONFIG_HOME || join(homedir(), '.config'), 'ams');
}
