import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import knex, { type Knex } from 'knex';
import pg from 'pg';
import { describeError } from '../../shared/error-log.ts';
import { type OnLine, watchLockWaits } from './migration-locks.ts';

interface MigrationModule {
  up(knex: Knex): Promise<void>;
  down(knex: Knex): Promise<void>;
}

/** Migrations by file name without ending, so that the same list counts from source and from the build. */
function createMigrationSource(folder: string): Knex.MigrationSource<string> {
  return {
    async getMigrations() {
      const files = await readdir(folder);
      const names = files.filter((file) => /^\d{4}-.*\.(ts|js)$/.test(file) && !file.endsWith('.d.ts'));
      return names.map((file) => file.replace(/\.(ts|js)$/, '')).sort();
    },
    getMigrationName: (name) => name,
    async getMigration(name) {
      const ending = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
      const module: MigrationModule = await import(pathToFileURL(join(folder, `${name}.${ending}`)).href);
      return module;
    },
  };
}

/** Where the migrations are, from source and from the build alike. */
const migrationsFolder = fileURLToPath(new URL('../../../migrations', import.meta.url));

const migrationLockId = 7_310_552_901;

const lockPollMs = 100;

/** Holds an advisory lock meanwhile, so that a lock row left by a migration that was killed can be cleared without fear. */
async function withKnex<T>(
  url: string,
  run: (migrate: Knex.Migrator) => Promise<T>,
  tell: OnLine = () => undefined,
): Promise<T> {
  const guard = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  await guard.connect();
  const db = knex({ client: 'pg', connection: url, pool: { min: 0, max: 1 } });
  try {
    await acquireMigrationLock(guard, tell);
    // A statement that waits for a lock holds up the running service behind it: it gives up soon, and is tried again.
    const { rows }: { rows: { pid: number }[] } =
      await db.raw(`select set_config('lock_timeout', '3s', false), set_config('statement_timeout', '0', false),
        set_config('idle_in_transaction_session_timeout', '0', false), pg_backend_pid() as pid`);
    await enableConnectionCheck(db, tell);
    await db.migrate.forceFreeMigrationsLock(knexOptions);
    const waits = watchLockWaits(guard, rows[0]?.pid ?? 0, tell);
    try {
      return await run(db.migrate);
    } catch (error) {
      if (!isLockTimeout(error)) throw error;
      const by = waits.lastHolders().join('; ') || 'somebody who is gone by now';
      throw new Error(
        `others kept it from a lock (${describeError(error)}), and it can be run again: ${by}`,
        {
          cause: error,
        },
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
 * Has the server look whether we are still there while a statement runs. What a run that was killed had asked for would go on without it,
 * for minutes where it waits for others, and the next run would wait for that.
 */
async function enableConnectionCheck(db: Knex, tell: OnLine): Promise<void> {
  await db
    .raw(`select set_config('client_connection_check_interval', '1s', false)`)
    .catch((error: unknown) =>
      tell(`the server cannot notice a run that is killed: ${describeError(error)}`),
    );
}

/**
 * Waits for whoever migrates at the same time, by asking: a statement that waits holds a snapshot, and an index that the other one builds
 * beside the service would wait for that.
 */
async function acquireMigrationLock(guard: pg.Client, tell: OnLine): Promise<void> {
  for (let asked = 1; ; asked += 1) {
    const { rows } = await guard.query<{ mine: boolean }>('select pg_try_advisory_lock($1) as mine', [
      migrationLockId,
    ]);
    if (rows[0]?.mine) return;
    if (asked === 10) tell('another migration of this database is under way: this one waits for its end');
    await pause(lockPollMs);
  }
}

/** How often a migration is begun that others keep from a lock, and the pause in between, in milliseconds. */
const lockRetries = { max: 10, pauseMs: 2_000 };

/** A lock did not come in time. */
function isLockTimeout(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === '55P03';
}

/** A migration runs in a transaction: one that meets a lock has changed nothing, and begins anew. */
async function retryOnLockTimeout<T>(run: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await run();
    } catch (error) {
      if (!isLockTimeout(error) || tries === lockRetries.max) throw error;
      await pause(lockRetries.pauseMs);
    }
  }
}

const knexOptions = {
  migrationSource: createMigrationSource(migrationsFolder),
  tableName: 'schema_migrations',
};

/** A schema that a newer release has brought further is good for this one too. */
const lenientKnexOptions = { ...knexOptions, disableMigrationsListValidation: true };

/**
 * Brings the schema forward and answers the names of what was run; two callers at once go one after the other. Leaves a schema as
 * it is that a newer release has brought further. One that others keep from a lock is tried ten times.
 * @param tell hears whom it waits for.
 */
export function migrateForward(url: string, tell?: OnLine): Promise<string[]> {
  const forward = async (migrate: Knex.Migrator): Promise<string[]> => {
    const done: string[] = [];
    for (;;) {
      const [, run]: [number, string[]] = await retryOnLockTimeout(() => migrate.up(lenientKnexOptions));
      if (run.length === 0) return done;
      done.push(...run);
    }
  };
  return withKnex(url, forward, tell);
}

/** Takes back the latest migration and answers its name, or none when nothing is left. */
export function migrateBack(url: string): Promise<string[]> {
  return withKnex(url, async (migrate) => {
    const [, undone]: [number, string[]] = await migrate.down(knexOptions);
    return undone;
  });
}

/** Names of migrations that have not run yet. */
export function pendingMigrations(url: string): Promise<string[]> {
  return withKnex(url, async (migrate) => {
    const [, pending]: [unknown, (string | { file: string })[]] = await migrate.list(lenientKnexOptions);
    return pending.map((entry) => (typeof entry === 'string' ? entry : entry.file));
  });
}
