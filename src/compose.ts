import type { Config } from './config.ts';
import { createCursors } from './domain/feed/cursors.ts';
import { jobsForEvent } from './jobs/outbox-jobs.ts';
import { createLogger } from './platform/observability/logger.ts';
import { createMetrics } from './platform/observability/metrics.ts';
import { type Tracing, untraced } from './platform/observability/tracing.ts';
import { Repositories } from './repositories/index.ts';
import { deriveKey } from './shared/derived-key.ts';
import { createSealedBox } from './shared/encryption.ts';
import { openBus, openDatabases, openLimiter, openQueues, openWebhookSender } from './start/connections.ts';
import type { CoreOverrides } from './start/overrides.ts';
import { createStorage } from './start/storage.ts';
import { createPublisher } from './work/publish.ts';
import { createReplicaReads } from './work/replica-reads.ts';
import { createUnitOfWork } from './work/unit-of-work.ts';

/** What an API process, a worker and a command share. Connections open on first use. `part` names the process in its logs. */
export function compose(
  config: Config,
  part: string,
  tracing: Tracing = untraced,
  { logger = createLogger({ level: config.LOG_LEVEL, part }), wrapBus = (bus) => bus }: CoreOverrides = {},
) {
  const metrics = createMetrics({ version: config.VERSION, part });
  const { database, replicas } = openDatabases(config, logger);
  const bus = wrapBus(openBus(config, logger));
  const queues = openQueues(config, logger, tracing);
  const limiter = openLimiter(config, logger);
  const publisher = createPublisher({ bus, queues, logger });
  const storage = createStorage(config);
  const cursors = createCursors(config.SECRET_KEY);
  const sealedBox = createSealedBox(deriveKey(config.SECRET_KEY, 'ams vault'));
  const webhookSender = openWebhookSender(config);
  const limits = config.RATE_LIMITS === 'off' ? null : config.RATE_LIMITS;
  const fromReplica = createReplicaReads({
    primary: database,
    read: replicas.read,
    onOutcome: (outcome) => metrics.replicaReads.inc({ outcome }),
  });
  const unitOfWork = createUnitOfWork({
    database,
    fromReplica: config.DATABASE_REPLICA_URL.length > 0 ? fromReplica : undefined,
    settings: {
      cursors,
      addresses: storage.addresses,
      loopLimit: limits?.loop ?? null,
      unsentLimit: limits?.unsent_uploads ?? null,
      sealedBox,
      webhookSender,
      maxAgents: config.AGENTS_PER_OWNER === 0 ? null : config.AGENTS_PER_OWNER,
    },
    jobsOf: jobsForEvent,
    publish: publisher.publish,
    trace: tracing.current,
  });
  return {
    ...storage,
    ...{ config, logger, metrics, tracing, database, replicas, unitOfWork },
    repositories: new Repositories(database),
    bus,
    queues,
    limiter,
    cursors,
    sealedBox,
    webhookSender,
    /** The listener gets the result of every commit of this process. It must not throw. */
    onCommit: publisher.onCommit,
    /** Sends what is still to be published, then closes every connection and the tracing. */
    async close() {
      await publisher.drain();
      webhookSender.close();
      await Promise.all([queues.close(), bus.close(), limiter.close()]);
      await replicas.close();
      await database.close();
      await tracing.close();
    },
  };
}

export type Core = ReturnType<typeof compose>;
