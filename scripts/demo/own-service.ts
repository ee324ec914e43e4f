import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseEnv } from 'node:util';
import { launch } from '../../src/embedded/launch.ts';
import { readSettings } from '../../src/embedded/settings.ts';

const at = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The programs of the service, as the build puts them beside this file. */
const entries = {
  api: at('../../src/main.js'),
  worker: at('../../workers/main.js'),
  migrate: at('../../src/migrate.js'),
};

/** Settings that would lead to somebody's service or data instead of an own one. */
const notOurs = new Set(['DATABASE_URL', 'REDIS_URL', 'PUBLIC_URL', 'HOST', 'SECRET_KEY']);

export interface OwnService {
  /** What a client of the same installation needs, as in DATA_DIR/service.env. */
  env: Record<string, string | undefined>;
  /** Stops everything and removes its data. */
  stop(): Promise<void>;
}

/** Starts the whole service for a short while: its data in a temporary folder, its port a free one. */
export async function startOwnService(say: (line: string) => void, signal: AbortSignal): Promise<OwnService> {
  const folder = await mkdtemp(join(tmpdir(), 'ams-demo-'));
  const outside = Object.fromEntries(Object.entries(process.env).filter(([name]) => !notOurs.has(name)));
  const settings = await readSettings({ ...outside, PORT: '0', DATA_DIR: folder });
  const launched = launch({ settings, entries, say, report: say });
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
