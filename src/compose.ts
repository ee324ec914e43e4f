import type { Config } from './config.ts';
import { jobForEvent } from './jobs/outbox-jobs.ts';
import { createLogger } from './platform/observability/logger.ts';
import { createMetrics } from './platform/observability/metrics.ts';
import { type Tracing, untraced } from './platform/observability/tracing.ts';
import { createRepositories } from './repositories/index.ts';
import {
  openBus,
  openDatabases,
  openLimiter,
  openMailer,
  openQueues,
  openRemoteClient,
} from './start/connections.ts';
import type { CoreOverrides } from './start/overrides.ts';
import { differenceMessage } from './services/messages/send-context/compare.ts';
import { countStoppedLoop } from './services/messages/stopped-loops.ts';
import { createClock, databaseNow } from './shared/clock.ts';
import { createStorage } from './start/storage.ts';
import { createWorkSettings } from './start/work-settings.ts';
import { createEventRelay } from './work/event-relay.ts';
import { createPublisher } from './work/publish.ts';
import { createReplicaReads } from './work/replica-reads.ts';
import { createUnitOfWork } from './work/unit-of-work.ts';

const readClock = { name: 'clock.read', text: `select ${databaseNow} as now` };

/** What an API process, a worker and a command share. Connections open on first use. `part` names the process in its logs. */
export function compose(
  config: Config,
  part: string,
  tracing: Tracing = untraced,
  { logger = createLogger({ level: config.LOG_LEVEL, part }), wrapBus = (bus) => bus }: CoreOverrides = {},
) {
  const metrics = createMetrics({ version: config.VERSION, part });
  const databases = openDatabases(config, logger);
  const { database, replicas } = databases;
  const clock = createClock(async () => {
    const [row] = await database.query<{ now: number }>(readClock, []);
    return row?.now ?? Number.NaN;
  });
  const bus = wrapBus(openBus(config, logger));
  const queues = openQueues(config, logger, tracing);
  const limiter = openLimiter(config, logger);
  const eventRelay = createEventRelay({ bus, secrets: config.SECRETS, version: config.VERSION });
  const publisher = createPublisher({ bus, relay: eventRelay, queues, logger });
  const storage = createStorage(config);
  const remoteClient = openRemoteClient(config);
  const settings = createWorkSettings(config, {
    addresses: storage.addresses,
    remoteClient,
    sends: {
      onThread: (outcome) => metrics.sendThreads.inc({ outcome }),
      onDifference(difference) {
        metrics.sendThreads.inc({ outcome: 'different' });
        logger.error({ difference }, differenceMessage);
      },
    },
  });
  const fromReplica = createReplicaReads({
    primary: database,
    read: replicas.read,
    onOutcome: (outcome) => metrics.replicaReads.inc({ outcome }),
  });
  const db = createRepositories(database);
  const unitOfWork = createUnitOfWork({
    database,
    now: clock.now,
    fromReplica: config.DATABASE_REPLICA_URL.length > 0 ? fromReplica : undefined,
    settings,
    jobOf: jobForEvent,
    publish: publisher.publish,
    onRollback: (cause) => countStoppedLoop({ db, now: clock.now() }, cause),
    trace: tracing.current,
  });
  return {
    ...storage,
    settings,
    /** Undefined: this service sends no e-mail. */
    mailer: openMailer(config),
    /** Fetches from agents of other systems. */
    remoteClient,
    config,
    logger,
    metrics,
    tracing,
    ...databases,
    clock,
    unitOfWork,
    db,
    bus,
    eventRelay,
    queues,
    limiter,
    /** The listener gets the result of every commit of this process. It must not throw. */
    onCommit: publisher.onCommit,
    /** Sends what is still to be published, then closes every connection and the tracing. */
    async close() {
      await publisher.drain();
      settings.webhookSender.close();
      remoteClient.close();
      await Promise.all([queues.close(), bus.close(), limiter.close()]);
      await replicas.close();
      await database.close();
      await tracing.close();
    },
  };
}

export type Core = ReturnType<typeof compose>;
