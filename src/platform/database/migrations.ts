import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { describeError } from '../../shared/error-log.ts';
import type { Database } from './database.ts';
import { type OnMessage, watchLockWaits } from './migration-locks.ts';

interface MigrationModule {
  up(knex: Knex): Promise<void>;
  down(knex: Knex): Promise<void>;
}

/** Migrations by file name without extension, so that the names are the same in the source and in the build. */
function createMigrationSource(folder: string): Knex.MigrationSource<string> {
  return {
    async getMigrations() {
      const files = await readdir(folder);
      const names = files.filter((file) => /^\d{4}-.*\.(ts|js)$/.test(file) && !file.endsWith('.d.ts'));
      return names.map((file) => file.replace(/\.(ts|js)$/, '')).sort();
    },
    getMigrationName: (name) => name,
    async getMigration(name) {
      const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
      const module: MigrationModule = await import(pathToFileURL(join(folder, `${name}.${extension}`)).href);
      return module;
    },
  };
}

/** The same relative path in the source and in the build. */
const migrationsFolder = fileURLToPath(new URL('../../../migrations', import.meta.url));

const migrationLockId = 7_310_552_901;

const lockPollMs = 100;

/** Checks the encoding of a database, in which texts are normalized. @throws unless it is UTF8 */
export function requireEncoding(encoding: string | undefined): void {
  if (encoding !== 'UTF8')
    throw new Error(
      `the database has the encoding ${encoding}; create one with: createdb --encoding UTF8 --template template0`,
    );
}

/** Holds an advisory lock for the whole run, so that it is safe to clear the lock row of a killed migration. */
async function withKnex<T>(
  url: string,
  run: (migrate: Knex.Migrator) => Promise<T>,
  onMessage: OnMessage = () => undefined,
): Promise<T> {
  const guard = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  // Without a listener, the end of this connection would end the process.
  guard.on('error', (error) => onMessage(`the connection with the lock was lost: ${describeError(error)}`));
  await guard.connect();
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } });
  try {
    await acquireMigrationLock(guard, onMessage);
    // Queries of the running service queue up after a statement that waits for a lock. So it fails soon and is retried.
    const { rows }: { rows: { pid: number; encoding: string }[] } =
      await db.raw(`select set_config('lock_timeout', '3s', false), set_config('statement_timeout', '0', false),
        set_config('idle_in_transaction_session_timeout', '0', false), pg_backend_pid() as pid,
        current_setting('server_encoding') as encoding`);
    const { pid = 0, encoding } = rows[0] ?? {};
    requireEncoding(encoding);
    await enableConnectionCheck(db, onMessage);
    await db.migrate.forceFreeMigrationsLock(knexOptions);
    const waits = watchLockWaits(guard, pid, onMessage);
    try {
      return await run(db.migrate);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const holders = waits.lastHolders().join('; ') || 'a transaction that has ended';
      throw new Error(
        `the migration could not get a lock (${describeError(error)}); run it again. The lock is held by ${holders}`,
        { cause: error },
      );
    } finally {
      await waits.stop();
    }
  } finally {
    await db.destroy();
    await guard.end();
  }
}

/**
 * Lets the server check the connection while a statement runs. Otherwise the statement of a killed run continues, for minutes if it waits
 * for a lock, and the next run waits for it.
 */
async function enableConnectionCheck(db: Knex, onMessage: OnMessage): Promise<void> {
  await db
    .raw(`select set_config('client_connection_check_interval', '1s', false)`)
    .catch((error: unknown) =>
      onMessage(`the server cannot detect a killed migration: ${describeError(error)}`),
    );
}

/**
 * Waits for other migrations by polling. A statement that waits holds a snapshot, and a concurrent index build of the other migration would
 * wait for that snapshot.
 */
async function acquireMigrationLock(guard: pg.Client, onMessage: OnMessage): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const { rows } = await guard.query<{ is_locked: boolean }>(
      'select pg_try_advisory_lock($1) as is_locked',
      [migrationLockId],
    );
    if (rows[0]?.is_locked) return;
    if (attempt === 10) onMessage('another migration of this database is running; waiting for it to end');
    await pause(lockPollMs);
  }
}

/** Attempts of a migration that cannot get a lock, and the pause between them in milliseconds. */
const lockRetries = { max: 10, pauseMs: 2_000 };

/** Whether a statement timed out while it waited for a lock (SQLSTATE 55P03). */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}

/** A migration runs in a transaction, so a failed attempt has changed nothing. */
async function retryOnLockTimeout<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isLockTimeout(error) || attempt === lockRetries.max) throw error;
      await pause(lockRetries.pauseMs);
    }
  }
}

const migrationSource = createMigrationSource(migrationsFolder);

const knexOptions = {
  migrationSource,
  tableName: 'schema_migrations',
};

/** Accepts migrations of a newer release: its schema works for this release too. */
const lenientKnexOptions = { ...knexOptions, disableMigrationsListValidation: true };

/**
 * Runs the pending migrations and returns their names. Concurrent callers run one after the other. Does nothing when a newer release has
 * already migrated further. Retries a migration that cannot get a lock, up to ten times.
 * @param onMessage receives one line for each transaction that the migration waits for.
 */
export function migrateForward(url: string, onMessage?: OnMessage): Promise<string[]> {
  const forward = async (migrate: Knex.Migrator): Promise<string[]> => {
    const names: string[] = [];
    for (;;) {
      const [, run]: [number, string[]] = await retryOnLockTimeout(() => migrate.up(lenientKnexOptions));
      if (run.length === 0) return names;
      names.push(...run);
    }
  };
  return withKnex(url, forward, onMessage);
}

/** Reverts the latest migration. Returns its name, or nothing when no migration is left. */
export function migrateBack(url: string): Promise<string[]> {
  return withKnex(url, async (migrate) => {
    const [, reverted]: [number, string[]] = await migrate.down(knexOptions);
    return reverted;
  });
}

/** Returns the names of migrations that have not run yet. Waits for no running migration: with its schema, this release works too. */
export async function pendingMigrations(db: Pick<Database, 'query'>): Promise<string[]> {
  const [known, applied] = await Promise.all([migrationSource.getMigrations([]), readApplied(db)]);
  return known.filter((name) => !applied.has(name));
}

async function readApplied(db: Pick<Database, 'query'>): Promise<ReadonlySet<string>> {
  try {
    const rows = await db.query<{ name: string }>({ text: 'select name from schema_migrations' }, []);
    return new Set(rows.map(({ name }) => name));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === '42P01') return new Set(); // no migration has run
    throw error;
  }
}
