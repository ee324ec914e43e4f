import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { launch } from '../../src/embedded/launch.ts';
import { readSettings } from '../../src/embedded/settings.ts';
import { createGuardedFolder } from '../parts/cleanup-guard.ts';
import { withoutServiceSettings } from '../parts/service-process.ts';

export interface StartedService {
  /** The settings for clients of the installation, as in DATA_DIR/service.env. */
  env: Record<string, string | undefined>;
  /** Stops everything and removes its data. */
  stop(): Promise<void>;
}

/**
 * Starts a complete service with a temporary data folder and a free port. It stops early when `signal` aborts. It uses no settings of `.env`:
 * in the bucket of another service it would remove the files, which have no rows in its database.
 */
export async function startService(
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<StartedService> {
  const { folder, remove } = await createGuardedFolder('ams-demo-');
  const settings = await readSettings({
    ...withoutServiceSettings(process.env),
    PORT: '0',
    DATA_DIR: folder,
  });
  const { ready, stop: stopService } = launch({ settings, log, report: log });
  const stopAndRemove = async () => {
    try {
      await stopService();
    } finally {
      await remove();
    }
  };
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= stopAndRemove());
  // The caller awaits the same `stop`, and gets its error.
  signal.addEventListener('abort', () => void stop().catch(() => undefined), { once: true });
  try {
    await ready;
  } catch (error) {
    await stop();
    throw error;
  }
  return { env: parseEnv(readFileSync(join(settings.dataDir, 'service.env'), 'utf8')), stop };
}
