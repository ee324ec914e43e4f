import { type Snapshot, type TableSize, readTableSizes, takeSnapshot } from '../bench/start/snapshot.ts';
import { compose } from '../src/compose.ts';
import { loadConfig } from '../src/config.ts';
import { openDatabase } from '../src/platform/database/database.ts';
import type { Environment } from './environment.ts';

/** Memory of all processes, jobs, and the tables with their sizes. */
export interface Installation extends Snapshot {
  tables: TableSize[];
}

/** Reads the state of an installation whose processes all run. @throws where there is no /proc. */
export async function readInstallation(environment: Environment): Promise<Installation> {
  const { env, apis, workers, postgres } = environment;
  const core = compose(loadConfig({ ...env, LOG_LEVEL: 'silent', DATABASE_POOL_SIZE: '2' }), 'chaos');
  const database = openDatabase({ url: postgres.url, poolSize: 1, onError: () => undefined });
  const listPids = (slots: Environment['apis']) => slots.flatMap((slot) => slot.pid() ?? []);
  const pids = { api: listPids(apis), worker: listPids(workers) };
  try {
    await core.queues.ping(); // waits for the connection
    const snapshot = await takeSnapshot({ pids, postgres_folder: postgres.folder, env, core });
    return { ...snapshot, tables: await readTableSizes({ database }) };
  } finally {
    await Promise.all([core.close(), database.close()]);
  }
}
