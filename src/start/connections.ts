import type { Config } from '../config.ts';
import type { Budget } from '../../packages/core/src/domain/limits.ts';
import type { Bus } from '../platform/bus/bus.ts';
import { createPostgresBus } from '../platform/bus/postgres.ts';
import { createRedisBus } from '../platform/bus/redis.ts';
import { defaultTimeouts, openDatabase } from '../platform/database/database.ts';
import { openReplicas } from '../platform/database/replicas.ts';
import { createTimelineGuard } from '../platform/database/timeline-guard.ts';
import { createLogger, type Logger } from '../platform/observability/logger.ts';
import { openTracing, type Tracing } from '../platform/observability/tracing.ts';
import { createGuardedClient } from '../platform/outbound/guarded-fetch.ts';
import { createWebhookSender } from '../platform/outbound/webhook-sender.ts';
import { createMailer } from '../platform/mail/mailer.ts';
import type { JobQueues } from '../platform/queues/job-queues.ts';
import { createPostgresQueues } from '../platform/queues/postgres.ts';
import { createRedisQueues } from '../platform/queues/redis.ts';
import { type Limiter, unlimited } from '../platform/rate-limits/limiter.ts';
import { createPostgresLimiter } from '../platform/rate-limits/postgres.ts';
import { createRedisLimiter } from '../platform/rate-limits/redis.ts';
import type { ErrorLog } from '../shared/error-log.ts';

/** An `ErrorLog` that writes warnings. */
export function createWarningLog(logger: Logger): ErrorLog {
  return (message, error) => logger.warn({ err: error }, message);
}

/** The primary database, the guard of its connections, and its replicas. Connections open on first use. */
export function openDatabases(config: Config, logger: Logger) {
  const timelines = createTimelineGuard();
  const log = createWarningLog(logger);
  const poolSize = config.DATABASE_POOL_SIZE;
  const hasPooler = config.DATABASE_POOLER === 'transaction';
  const database = openDatabase({
    url: config.DATABASE_URL,
    poolSize,
    hasPooler,
    onConnect: timelines.onConnect,
    timeouts: {
      ...defaultTimeouts,
      lockMs: config.DATABASE_LOCK_SECONDS * 1_000,
      statementMs: config.DATABASE_STATEMENT_SECONDS * 1_000,
    },
    onError: (error) => log('a database connection was lost', error),
  });
  const replicas = openReplicas({
    primary: database,
    urls: config.DATABASE_REPLICA_URL,
    poolSize,
    hasPooler,
    maxLagMs: config.DATABASE_REPLICA_LAG_SECONDS * 1_000,
    log,
  });
  return { database, timelines, replicas };
}

/** The bus: Redis if REDIS_URL is set, otherwise PostgreSQL. */
export function openBus(config: Config, logger: Logger): Bus {
  const log = createWarningLog(logger);
  return config.REDIS_URL
    ? createRedisBus({ url: config.REDIS_URL, prefix: `${config.REDIS_PREFIX}:`, log })
    : createPostgresBus({ url: config.DATABASE_DIRECT_URL, channel: 'ams_bus', log });
}

/** The job queues: in Redis if REDIS_URL is set, otherwise in PostgreSQL. */
export function openQueues(config: Config, logger: Logger, tracing: Tracing): JobQueues {
  const log = createWarningLog(logger);
  return config.REDIS_URL
    ? createRedisQueues({ url: config.REDIS_URL, prefix: config.REDIS_PREFIX, log, tracing })
    : createPostgresQueues({ url: config.DATABASE_DIRECT_URL, schema: 'ams_queues', log, tracing });
}

/** The rate limiter: in Redis if REDIS_URL is set, otherwise in PostgreSQL. */
export function openLimiter(config: Config, logger: Logger): Limiter<Budget> {
  const limits = config.RATE_LIMITS;
  if (limits === 'off') return unlimited;
  const log = createWarningLog(logger);
  return config.REDIS_URL
    ? createRedisLimiter({ url: config.REDIS_URL, prefix: `${config.REDIS_PREFIX}:limit:`, limits, log })
    : createPostgresLimiter({ url: config.DATABASE_DIRECT_URL, limits, log });
}

const userAgent = (version: string): string => `agent-messaging-service/${version}`;

/** Sends webhooks to public addresses, and to those of WEBHOOK_NETWORKS. */
export function openWebhookSender({ WEBHOOK_NETWORKS: networks, VERSION }: Config) {
  return createWebhookSender({ networks, timeoutMs: 15_000, userAgent: userAgent(VERSION) });
}

/** Sends requests to agents of other systems at public addresses, and at those of REMOTE_NETWORKS. Most servers keep idle connections longer. */
export function openRemoteClient({ REMOTE_NETWORKS: networks, VERSION }: Config) {
  return createGuardedClient({ networks, userAgent: userAgent(VERSION), idleMs: 4_000 });
}

/** Sends e-mail if SMTP_URL is set. */
export function openMailer({ SMTP_URL: url, SMTP_FROM: from, PUBLIC_URL }: Config) {
  if (url === undefined || from === undefined) return undefined;
  return createMailer({ url, from, host: new URL(PUBLIC_URL).hostname });
}

/** This service as a client of OIDC_ISSUER; undefined without one. */
export function openIdClientOf({ OIDC_ISSUER, OIDC_CLIENT_ID, OIDC_CLIENT_SECRET }: Config) {
  if (OIDC_ISSUER === undefined || OIDC_CLIENT_ID === undefined) return undefined;
  return { issuer: OIDC_ISSUER, client_id: OIDC_CLIENT_ID, client_secret: OIDC_CLIENT_SECRET };
}

/** The trace exporter of a process; does nothing unless OTEL_EXPORTER_OTLP_ENDPOINT is set. */
export function openProcessTracing(config: Config, part: string): Promise<Tracing> {
  const log = createWarningLog(createLogger({ level: config.LOG_LEVEL, part }));
  const {
    OTEL_EXPORTER_OTLP_ENDPOINT: endpoint,
    OTEL_SERVICE_NAME: service = `ams-${part}`,
    VERSION: version,
  } = config;
  return openTracing({ endpoint, service, version, log });
}
