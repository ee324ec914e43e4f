import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type pg from 'pg';
import { vi } from 'vitest';
import { removeFolderOnExit } from '../../../../scripts/parts/cleanup-guard.ts';
import { chooseLocation } from '../../../../src/embedded/postgres/location.ts';
import { startPostgres } from '../../../../src/embedded/postgres/start-postgres.ts';
import { migrateForward } from '../../../../src/platform/database/migrations.ts';
import { queryOnce } from './database.ts';

export interface Replication {
  /** Of a database with the schema in place. */
  primary_url: string;
  /** The same one on a hot standby that streams. */
  standby_url: string;
  /** One statement on either. */
  onPrimary(sql: string): Promise<pg.QueryResult>;
  onStandby(sql: string): Promise<pg.QueryResult>;
  /** The standby continues to receive the log, but does not replay it. */
  pauseReplay(): Promise<void>;
  resumeReplay(): Promise<void>;
  /** Ends the standby without a word. */
  killStandby(): Promise<void>;
  startStandby(): Promise<void>;
  /** From now on the standby lacks what the primary commits. */
  endReplication(): Promise<void>;
  stop(): Promise<void>;
}

const run = promisify(execFile);
const settings = { shared_buffers: '64MB', max_connections: '200', fsync: 'off', synchronous_commit: 'on' };
const waitOptions = { timeout: 60_000, interval: 20 };

/** A primary and a hot standby of it, by streaming replication on loopback. They end with the test process, however that ends. */
export async function startReplication(): Promise<Replication> {
  const [folder, copy] = await Promise.all([newFolder('primary'), newFolder('standby')]);
  const releases = [removeFolderOnExit(folder), removeFolderOnExit(copy)];
  const options = { throwaway: true };
  const first = await startPostgres({ ...options, dataDir: folder, settings });
  await migrateForward(first.url);
  await first.stop();
  await copyCluster(folder, copy);
  const primary = await startPostgres({ ...options, dataDir: folder, settings });
  const { port, username, password } = new URL(primary.url);
  const primary_conninfo = `host=127.0.0.1 port=${port} user=${username} password=${decodeURIComponent(password)}`;
  const startCopy = (own?: number, source = primary_conninfo) =>
    startPostgres({
      ...options,
      dataDir: copy,
      settings: { ...settings, primary_conninfo: source, wal_retrieve_retry_interval: '100ms' },
      ...(own !== undefined && { port: own }),
    });
  let standby = await startCopy();
  const at = (url: string) => (sql: string) => queryOnce(url, sql);
  const [onPrimary, onStandby] = [at(primary.url), at(standby.url)];

  return {
    primary_url: primary.url,
    standby_url: standby.url,
    onPrimary,
    onStandby,
    async pauseReplay() {
      await onStandby('select pg_wal_replay_pause()');
      await vi.waitFor(async () => {
        const { rows } = await onStandby('select pg_get_wal_replay_pause_state() as state');
        if (rows[0].state !== 'paused') throw new Error('the replay is not paused');
      }, waitOptions);
    },
    resumeReplay: async () => void (await onStandby('select pg_wal_replay_resume()')),
    async killStandby() {
      standby.kill();
      await vi.waitFor(() => onStandby('select 1').then(fail, () => undefined), waitOptions);
    },
    async startStandby() {
      standby = await startCopy(standby.port);
    },
    async endReplication() {
      await standby.stop();
      standby = await startCopy(standby.port, '');
    },
    async stop() {
      await Promise.all([primary.stop(), standby.stop()]);
      await Promise.all([folder, copy].map((each) => rm(each, { recursive: true, force: true })));
      for (const release of releases) release();
    },
  };
}

function newFolder(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `ams-${name}-`));
}

/** A stopped cluster is a complete base backup. */
async function copyCluster(folder: string, copy: string): Promise<void> {
  await run('cp', ['-a', `${folder}/.`, copy]);
  await rm(join(copy, 'run'), { recursive: true, force: true });
  const [from, to] = [chooseLocation(folder).folder, chooseLocation(copy).folder];
  if (!from.startsWith(folder)) await run('cp', ['-a', from, to]);
  await writeFile(join(to, 'standby.signal'), '');
}

function fail(): never {
  throw new Error('it still answers');
}
