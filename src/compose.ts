import { createAnnouncer } from './announcer.ts';
import { composeFiles } from './compose-files.ts';
import type { Config } from './config.ts';
import { createCursors } from './domain/cursors.ts';
import { derivedKey } from './domain/derived-key.ts';
import type { Budget } from './domain/limits.ts';
import { sealedBox } from './domain/sealed-box.ts';
import { jobsOf } from './jobs/index.ts';
import { postgresBus } from './platform/bus-postgres.ts';
import { redisBus } from './platform/bus-redis.ts';
import type { Bus } from './platform/bus.ts';
import { createCourier } from './platform/courier.ts';
import { openDatabase, usualPatience } from './platform/database.ts';
import type { ErrorLog } from './platform/error-log.ts';
import { postgresLimiter } from './platform/limiter-postgres.ts';
import { redisLimiter } from './platform/limiter-redis.ts';
import { type Limiter, unlimited } from './platform/limiter.ts';
import { createLogger, type Logger } from './platform/logger.ts';
import { createMetrics } from './platform/metrics.ts';
import { postgresQueues } from './platform/queues-postgres.ts';
import { redisQueues } from './platform/queues-redis.ts';
import type { JobQueues } from './platform/queues.ts';
import { openReplicas } from './platform/replicas.ts';
import { openTracing, type Tracing, untraced } from './platform/tracing.ts';
import { repositoriesOn } from './repositories/index.ts';
import { createReplicaReads } from './replica-reads.ts';
import { createUnitOfWork } from './unit-of-work.ts';

/**
 * Names every concrete part once: what an API process and a worker have in common. Opens connections lazily and knows no
 * transport. `part` names the process in its logs.
 * @param tracing of the process; closed with everything else.
 */
export function compose(config: Config, part: string, tracing: Tracing = untraced) {
  const logger = createLogger({ level: config.LOG_LEVEL, part });
  const metrics = createMetrics({ version: config.VERSION, part });
  const database = openDatabase({
    url: config.DATABASE_URL,
    pool_size: config.DATABASE_POOL_SIZE,
    pooled: config.DATABASE_POOLER === 'transaction',
    patience: {
      ...usualPatience,
      lock: config.DATABASE_LOCK_SECONDS * 1_000,
      statement: config.DATABASE_STATEMENT_SECONDS * 1_000,
    },
    on_error: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
  const replicas = openReplicas({
    primary: database,
    urls: config.DATABASE_REPLICA_URL,
    pool_size: config.DATABASE_POOL_SIZE,
    pooled: config.DATABASE_POOLER === 'transaction',
    most_behind_ms: config.DATABASE_REPLICA_LAG_SECONDS * 1_000,
    log: (message, error) => logger.warn({ err: error }, message),
  });
  const fromReplica = createReplicaReads({
    primary: database,
    read: replicas.read,
    tell: (outcome) => metrics.replicaReads.inc({ outcome }),
  });
  const cursors = createCursors(config.SECRET_KEY);
  const bus = chooseBus(config, logger);
  const queues = chooseQueues(config, logger, tracing);
  const limiter = chooseLimiter(config, logger);
  const announcer = createAnnouncer({ bus, queues, logger });
  const files = composeFiles(config);
  const { addresses } = files;
  const vault = sealedBox(derivedKey(config.SECRET_KEY, 'ams vault'));
  const courier = createCourier({
    networks: config.WEBHOOK_NETWORKS,
    patience_ms: 15_000,
    user_agent: `agent-messaging-service/${config.VERSION}`,
  });
  const { announce } = announcer;
  const limits = config.RATE_LIMITS === 'off' ? null : config.RATE_LIMITS;
  const counted = { loop: limits?.loop ?? null, unsent: limits?.unsent_uploads ?? null };
  const ways = { addresses, vault, courier };
  const most_agents = config.AGENTS_PER_OWNER === 0 ? null : config.AGENTS_PER_OWNER;
  const unitOfWork = createUnitOfWork({
    database,
    fromReplica: config.DATABASE_REPLICA_URL.length > 0 ? fromReplica : undefined,
    cursors,
    ...ways,
    ...counted,
    most_agents,
    jobsOf,
    announce,
    trace: tracing.current,
  });

  return {
    config,
    logger,
    metrics,
    tracing,
    database,
    /** Nobody looks after them before they are told to. */
    replicas,
    /** Bound to the pool: every statement stands alone. */
    repositories: repositoriesOn(database),
    unitOfWork,
    bus,
    queues,
    limiter,
    ...files,
    cursors,
    vault,
    courier,
    /** Told of every commit of this process. It must not throw. */
    onCommit: announcer.alsoTell,
    /** Lets announcements under way finish, then closes every connection. */
    async close() {
      await announcer.settled();
      courier.close();
      await Promise.all([queues.close(), bus.close(), limiter.close()]);
      await replicas.close();
      await database.close();
      await tracing.close();
    },
  };
}

export type Core = ReturnType<typeof compose>;

function chooseBus(config: Config, logger: Logger): Bus {
  const log = (message: string, error: unknown) => logger.warn({ err: error }, message);
  return config.REDIS_URL
    ? redisBus({ url: config.REDIS_URL, prefix: `${config.REDIS_PREFIX}:`, log })
    : postgresBus({ url: config.DATABASE_DIRECT_URL, channel: 'ams_bus', log });
}

/** Opens the traces of a process, where the settings say that there are any. */
export function tracingOf(config: Config, part: string): Promise<Tracing> {
  const logger = createLogger({ level: config.LOG_LEVEL, part });
  const log: ErrorLog = (message, error) => logger.warn({ err: error }, message);
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_SERVICE_NAME: service = `ams-${part}`,
    VERSION: version,
  } = config;
  return openTracing({ endpoint, service, version, log });
}

function chooseQueues(config: Config, logger: Logger, tracing: Tracing): JobQueues {
  const log = (message: string, error: unknown) => logger.warn({ err: error }, message);
  return config.REDIS_URL
    ? redisQueues({ url: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, tracing })
    : postgresQueues({ url: config.DATABASE_DIRECT_URL, schema: 'ams_queues', log, tracing });
}

function chooseLimiter(config: Config, logger: Logger): Limiter<Budget> {
  const limits = config.RATE_LIMITS;
  if (limits === 'off') return unlimited;
  const log = (message: string, error: unknown) => logger.warn({ err: error }, message);
  return config.REDIS_URL
    ? redisLimiter({ url: config.REDIS_URL, prefix: `${config.REDIS_PREFIX}:limit:`, limits, log })
    : postgresLimiter({ url: config.DATABASE_DIRECT_URL, limits, log });
}
