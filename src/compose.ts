import { createPublisher } from './work/publish.ts';
import { createStorage } from './start/storage.ts';
import type { Config } from './config.ts';
import { createCursors } from './domain/feed/cursors.ts';
import { deriveKey } from './shared/derived-key.ts';
import type { Budget } from './domain/limits.ts';
import { createSealedBox } from './shared/encryption.ts';
import { jobsForEvent } from './jobs/outbox-jobs.ts';
import { createPostgresBus } from './platform/bus/postgres.ts';
import { createRedisBus } from './platform/bus/redis.ts';
import type { Bus } from './platform/bus/bus.ts';
import { createWebhookSender } from './platform/outbound/webhook-sender.ts';
import { openDatabase, defaultTimeouts } from './platform/database/database.ts';
import type { ErrorLog } from './shared/error-log.ts';
import { createPostgresLimiter } from './platform/rate-limits/postgres.ts';
import { createRedisLimiter } from './platform/rate-limits/redis.ts';
import { type Limiter, unlimited } from './platform/rate-limits/limiter.ts';
import { createLogger, type Logger } from './platform/observability/logger.ts';
import { createMetrics } from './platform/observability/metrics.ts';
import { createPostgresQueues } from './platform/queues/postgres.ts';
import { createRedisQueues } from './platform/queues/redis.ts';
import type { JobQueues } from './platform/queues/job-queues.ts';
import { openReplicas } from './platform/database/replicas.ts';
import { openTracing, type Tracing, untraced } from './platform/observability/tracing.ts';
import { Repositories } from './repositories/index.ts';
import { createReplicaReads } from './work/replica-reads.ts';
import { createUnitOfWork } from './work/unit-of-work.ts';

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
    poolSize: config.DATABASE_POOL_SIZE,
    hasPooler: config.DATABASE_POOLER === 'transaction',
    timeouts: {
      ...defaultTimeouts,
      lockMs: config.DATABASE_LOCK_SECONDS * 1_000,
      statementMs: config.DATABASE_STATEMENT_SECONDS * 1_000,
    },
    onError: (error) => logger.warn({ err: error }, 'a database connection was lost'),
  });
  const replicas = openReplicas({
    primary: database,
    urls: config.DATABASE_REPLICA_URL,
    poolSize: config.DATABASE_POOL_SIZE,
    hasPooler: config.DATABASE_POOLER === 'transaction',
    maxLagMs: config.DATABASE_REPLICA_LAG_SECONDS * 1_000,
    log: (message, error) => logger.warn({ err: error }, message),
  });
  const fromReplica = createReplicaReads({
    primary: database,
    read: replicas.read,
    onOutcome: (outcome) => metrics.replicaReads.inc({ outcome }),
  });
  const cursors = createCursors(config.SECRET_KEY);
  const bus = chooseBus(config, logger);
  const queues = chooseQueues(config, logger, tracing);
  const limiter = chooseLimiter(config, logger);
  const announcer = createPublisher({ bus, queues, logger });
  const files = createStorage(config);
  const { addresses } = files;
  const sealedBox = createSealedBox(deriveKey(config.SECRET_KEY, 'ams vault'));
  const webhookSender = createWebhookSender({
    networks: config.WEBHOOK_NETWORKS,
    timeoutMs: 15_000,
    userAgent: `agent-messaging-service/${config.VERSION}`,
  });
  const { publish } = announcer;
  const limits = config.RATE_LIMITS === 'off' ? null : config.RATE_LIMITS;
  const counted = { loopLimit: limits?.loop ?? null, unsentLimit: limits?.unsent_uploads ?? null };
  const ways = { addresses, sealedBox, webhookSender };
  const maxAgents = config.AGENTS_PER_OWNER === 0 ? null : config.AGENTS_PER_OWNER;
  const unitOfWork = createUnitOfWork({
    database,
    fromReplica: config.DATABASE_REPLICA_URL.length > 0 ? fromReplica : undefined,
    settings: { cursors, ...ways, ...counted, maxAgents },
    jobsOf: jobsForEvent,
    publish,
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
    repositories: new Repositories(database),
    unitOfWork,
    bus,
    queues,
    limiter,
    ...files,
    cursors,
    sealedBox,
    webhookSender,
    /** Told of every commit of this process. It must not throw. */
    onCommit: announcer.onCommit,
    /** Lets announcements under way finish, then closes every connection. */
    async close() {
      await announcer.drain();
      webhookSender.close();
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
    ? createRedisBus({ url: config.REDIS_URL, prefix: `${config.REDIS_PREFIX}:`, log })
    : createPostgresBus({ url: config.DATABASE_DIRECT_URL, channel: 'ams_bus', log });
}

/** Opens the traces of a process, where the settings say that there are any. */
export function openProcessTracing(config: Config, part: string): Promise<Tracing> {
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
    ? createRedisQueues({ url: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, tracing })
    : createPostgresQueues({ url: config.DATABASE_DIRECT_URL, schema: 'ams_queues', log, tracing });
}

function chooseLimiter(config: Config, logger: Logger): Limiter<Budget> {
  const limits = config.RATE_LIMITS;
  if (limits === 'off') return unlimited;
  const log = (message: string, error: unknown) => logger.warn({ err: error }, message);
  return config.REDIS_URL
    ? createRedisLimiter({ url: config.REDIS_URL, prefix: `${config.REDIS_PREFIX}:limit:`, limits, log })
    : createPostgresLimiter({ url: config.DATABASE_DIRECT_URL, limits, log });
}
