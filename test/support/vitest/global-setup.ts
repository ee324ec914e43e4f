import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { removeFolderOnExit } from '../../../scripts/parts/cleanup-guard.ts';
import { startPostgres } from '../../../src/embedded/postgres/start-postgres.ts';
import { migrateForward } from '../../../src/platform/database/migrations.ts';
import { bundleService } from './bundle.ts';
import { createDataFolder } from '../servers/postgres/data-folder.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** For what the test files of a run share. */
    run_folder: string;
  }
}

const template = 'ams_template';

/** One PostgreSQL for all test files, with a migrated template that each file copies, and one bundle of the service. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const folder = await createDataFolder();
  const runFolder = await mkdtemp(join(tmpdir(), 'ams-run-'));
  // On a signal vitest exits at once, without the teardown below.
  const releases = [folder, runFolder].map((each) => removeFolderOnExit(each));
  const settings = { max_connections: '500', shared_buffers: '128MB', max_wal_size: '1GB' };
  const server = await startPostgres({ dataDir: folder, throwaway: true, settings });
  const url = new URL(server.url);
  url.pathname = `/${template}`;
  const client = new pg.Client({ connectionString: server.url });
  await client.connect();
  await client.query(`create database ${template}`);
  // The password is hashed once: tests open thousands of connections, and each client hashes it 4,096 times by default.
  await client.query('set scram_iterations = 1');
  await client.query(
    `alter role current_user password ${pg.escapeLiteral(decodeURIComponent(url.password))}`,
  );
  await client.end();
  const [bundle] = await Promise.all([bundleService(), migrateForward(url.href)]);
  project.provide('postgres_url', server.url);
  project.provide('template', template);
  project.provide('bundle', bundle);
  project.provide('run_folder', runFolder);
  return async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
    await rm(runFolder, { recursive: true, force: true });
    for (const release of releases) release();
  };
}
