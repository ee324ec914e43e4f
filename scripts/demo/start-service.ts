import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { launch } from '../../src/embedded/launch.ts';
import { readSettings } from '../../src/embedded/settings.ts';

const resolveEntry = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The programs of the service, as the build puts them beside this file. */
const entries = {
  api: resolveEntry('../../src/main.js'),
  worker: resolveEntry('../../workers/main.js'),
  migrate: resolveEntry('../../src/migrate.js'),
};

/** Settings that would lead to somebody's service or data instead of an own one. */
const ignoredSettings = new Set(['DATABASE_URL', 'REDIS_URL', 'PUBLIC_URL', 'HOST', 'SECRET_KEY']);

export interface StartedService {
  /** What a client of the same installation needs, as in DATA_DIR/service.env. */
  env: Record<string, string | undefined>;
  /** Stops everything and removes its data. */
  stop(): Promise<void>;
}

/** Starts the whole service for a short while: its data in a temporary folder, its port a free one. */
export async function startService(
  log: (line: string) => void,
  signal: AbortSignal,
): Promise<StartedService> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-demo-'));
  const outside = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !ignoredSettings.has(name)),
  );
  const settings = await readSettings({ ...outside, PORT: '0', DATA_DIR: folder });
  const launched = launch({ settings, entries, log, report: log });
  let stopped: Promise<void> | undefined;
  const stop = () => {
    stopped ??= stopAndRemove();
    return stopped;
  };
  const stopAndRemove = async () => {
    try {
      await launched.stop();
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };
  signal.addEventListener('abort', () => void stop().catch(() => undefined), { once: true });
  try {
    await launched.ready;
  } catch (error) {
    await stop();
    throw error;
  }
  return { env: parseEnv(readFileSync(join(settings.dataDir, 'service.env'), 'utf8')), stop };
}
