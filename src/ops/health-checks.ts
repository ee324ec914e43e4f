import type { Core } from '../compose.ts';
import { pendingMigrations } from '../platform/database/migrations.ts';
import type { HealthCheck } from '../transports/http/health.ts';

/** Milliseconds for which the result of a check is shared, since anybody can ask for the readiness of a process. */
const shareMs = 1_000;

/** Runs `check` at most once in that time; callers in between share the result. */
function share(check: () => Promise<void>): () => Promise<void> {
  let running: Promise<void> | undefined;
  return () => {
    running ??= check().finally(() => {
      setTimeout(() => (running = undefined), shareMs).unref();
    });
    return running;
  };
}

/** Fail on a server that takes no writes (25006), and without space on the disk of the database (53100). They change nothing. */
const writeChecks = [
  'select from agents where false for update',
  // Larger than the memory that it may use, so it is written to a temporary file.
  "set local work_mem = '64kB'",
  'select count(*) from generate_series(1, 20000)',
];

/** Returns a check whether the database takes writes. It writes by itself, so it also notices when nothing else is written. */
function createWriteCheck(database: Core['database']): () => Promise<void> {
  return share(async () => {
    const transaction = await database.begin();
    try {
      for (const text of writeChecks) await transaction.query({ text }, []);
    } finally {
      await transaction.rollback();
    }
  });
}

/** Returns a check whether every migration of this release has run. Migrations are never undone while processes run. */
function createSchemaCheck({ database, logger }: Pick<Core, 'database' | 'logger'>): () => Promise<void> {
  let isComplete = false;
  return share(async () => {
    if (isComplete) return;
    const pending = await pendingMigrations(database);
    isComplete = pending.length === 0;
    if (isComplete) return;
    const message = `${pending.length} migrations have not run: run ams migrate`;
    logger.error({ pending }, message);
    throw new Error(message);
  });
}

/** The checks for readiness. Queues, bus and replicas are optional: requests are served without them. */
export function healthChecks({
  database,
  replicas,
  queues,
  bus,
  logger,
}: Pick<Core, 'logger' | 'database' | 'replicas' | 'queues' | 'bus'>): HealthCheck[] {
  return [
    { part: 'database', check: createWriteCheck(database) },
    { part: 'schema', check: createSchemaCheck({ database, logger }) },
    { part: 'queues', isOptional: true, check: () => queues.check() },
    {
      part: 'bus',
      isOptional: true,
      check: () => (bus.isHealthy() ? Promise.resolve() : Promise.reject(new Error('down'))),
    },
    // A worker does not use replicas.
    ...(replicas.isWatching() ? [replicaCheck(replicas)] : []),
  ];
}

/** Without a replica, the primary serves its reads. */
function replicaCheck(replicas: Core['replicas']): HealthCheck {
  return {
    part: 'replicas',
    isOptional: true,
    async check() {
      const unhealthy = replicas.statuses().find((replica) => replica.problem !== null);
      if (unhealthy) throw new Error(`${unhealthy.name}: ${unhealthy.problem}`);
    },
  };
}
