import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Seconds: from a single statement to the longest wait of a caller. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds: a queued job can be as old as an outage is long. */
const lagBuckets = [...durationBuckets, 60, 300, 1_800];

/**
 * The Prometheus metrics of a process, in base units. Every label has few values, chosen by the service: never a path, an id or a
 * caller's text. The registry belongs to one process (or one test).
 */
export function createMetrics({ version, part }: { version: string; part: string }) {
  const registry = new Registry();
  const registers = [registry];
  const build = new Gauge({
    name: 'ams_build_info',
    help: 'The release and the Node.js version of this process.',
    labelNames: ['version', 'node_version', 'part'],
    registers,
  });
  build.set({ version, node_version: process.version, part }, 1);

  return {
    registry,
    /** Starts to collect memory, CPU time, event loop and garbage collection of the process. */
    watchProcess: () => collectDefaultMetrics({ register: registry }),
    ...createTransportMetrics(registers),
    ...createJobMetrics(registers),
    ...createQueueGauges(registers),
    ...createDatabaseMetrics(registers),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

function createTransportMetrics(registers: Registry[]) {
  return {
    requests: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to respond to a request; for a stream, until its headers are sent.',
      labelNames: ['method', 'route', 'status'],
      buckets: durationBuckets,
      registers,
    }),
    operations: new Counter({
      name: 'ams_operations_total',
      help: 'Operations by transport and outcome: ok, refused (an error of the caller), failed.',
      labelNames: ['operation', 'transport', 'outcome'],
      registers,
    }),
    sendThreads: new Counter({
      name: 'ams_send_threads_total',
      help: 'Threads of transactions with messages, by where their state came from: hit (the cache), miss (read), stale (read because a transaction that relied on the cache had failed), or different (a fault that SEND_CONTEXT=compare has found).',
      labelNames: ['outcome'],
      registers,
    }),
    deliveryLatency: new Histogram({
      name: 'ams_delivery_latency_seconds',
      help: 'Time from a change to the write of its event to a stream that was up to date.',
      labelNames: ['transport'],
      buckets: lagBuckets,
      registers,
    }),
    feedLag: new Histogram({
      name: 'ams_feed_lag_seconds',
      help: 'Time from the wake-up of a stream to the write of its events.',
      labelNames: ['transport'],
      buckets: lagBuckets,
      registers,
    }),
    slowReaders: new Counter({
      name: 'ams_slow_readers_closed_total',
      help: 'Connections closed because the client read too slowly.',
      labelNames: ['transport'],
      registers,
    }),
    webSocketCloses: new Counter({
      name: 'ams_websocket_closes_total',
      help: 'Closed WebSockets by close code.',
      labelNames: ['code'],
      registers,
    }),
    /** Registers a gauge of the open streams by transport; `countOpen` runs at each scrape. */
    countStreams: (countOpen: () => Iterable<readonly [transport: string, open: number]>) =>
      new Gauge({
        name: 'ams_open_streams',
        help: 'Open sockets, streams and waiting calls of this process, by transport.',
        labelNames: ['transport'],
        registers,
        collect() {
          for (const [transport, open] of countOpen()) this.set({ transport }, open);
        },
      }),
  };
}

function createJobMetrics(registers: Registry[]) {
  return {
    jobs: new Histogram({
      name: 'ams_job_duration_seconds',
      help: 'Time that a worker spent on a job, by outcome.',
      labelNames: ['job', 'outcome'],
      buckets: durationBuckets,
      registers,
    }),
    searchIndexLag: new Histogram({
      name: 'ams_search_index_lag_seconds',
      help: 'Time from sending a message until search finds it.',
      buckets: lagBuckets,
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'ams_webhook_attempts_total',
      help: 'Webhook requests by outcome: delivered, refused (another status than 2xx), unreachable.',
      labelNames: ['outcome'],
      registers,
    }),
    remoteDeliveries: new Counter({
      name: 'ams_remote_deliveries_total',
      help: 'Attempts to send a message to an agent of another system, by outcome: accepted, retried (it is sent again later), undeliverable, unknown.',
      labelNames: ['outcome'],
      registers,
    }),
    notifications: new Counter({
      name: 'ams_notifications_total',
      help: 'Attempts to notify a person, by channel (email, webhook) and outcome: sent, failed.',
      labelNames: ['channel', 'outcome'],
      registers,
    }),
    scans: new Counter({
      name: 'ams_attachment_scans_total',
      help: 'Attachment scans by outcome: clean, infected, failed, away (no scanner was available).',
      labelNames: ['outcome'],
      registers,
    }),
  };
}

/** Gauges that are set at each scrape. */
function createQueueGauges(registers: Registry[]) {
  return {
    parts: new Gauge({
      name: 'ams_part_up',
      help: 'Whether a dependency of this process responds (1) or not (0).',
      labelNames: ['part'],
      registers,
    }),
    queueJobs: new Gauge({
      name: 'ams_queue_jobs',
      help: 'Jobs in a queue by state; every process reports the same value.',
      labelNames: ['queue', 'state'],
      registers,
    }),
    queueAge: new Gauge({
      name: 'ams_queue_oldest_job_age_seconds',
      help: 'Age of the oldest job that is ready to run; every process reports the same value.',
      labelNames: ['queue'],
      registers,
    }),
    clockDifference: new Gauge({
      name: 'ams_clock_difference_seconds',
      help: 'How far the clock of the database is ahead of the clock of this process.',
      registers,
    }),
    outboxJobs: new Gauge({
      name: 'ams_outbox_jobs',
      help: 'Committed jobs that are not done; every process reports the same value.',
      registers,
    }),
    inboxReady: new Gauge({
      name: 'ams_inbox_ready',
      help: 'Inbox items that wait for an instance, in all inboxes; every process reports the same value.',
      registers,
    }),
    inboxLeased: new Gauge({
      name: 'ams_inbox_leased',
      help: 'Inbox items that are leased; every process reports the same value.',
      registers,
    }),
    inboxDead: new Gauge({
      name: 'ams_inbox_dead',
      help: 'Inbox items that failed all attempts; every process reports the same value.',
      registers,
    }),
    inboxOldestAge: new Gauge({
      name: 'ams_inbox_oldest_age_seconds',
      help: 'Age of the oldest inbox item that is ready or leased; every process reports the same value.',
      registers,
    }),
    remoteOldestAge: new Gauge({
      name: 'ams_remote_oldest_message_age_seconds',
      help: 'Age of the oldest message that an agent of another system has not accepted; every process reports the same value.',
      registers,
    }),
    partitionsAhead: new Gauge({
      name: 'ams_partitions_ahead_seconds',
      help: 'How far into the future a table has partitions; every process reports the same value.',
      labelNames: ['table'],
      registers,
    }),
    outboxAge: new Gauge({
      name: 'ams_outbox_oldest_job_age_seconds',
      help: 'Age of the oldest committed job that is not done; every process reports the same value.',
      registers,
    }),
  };
}

/** The pool of the primary and of each replica. The gauges are set at each scrape. */
function createDatabaseMetrics(registers: Registry[]) {
  return {
    replicaReads: new Counter({
      name: 'ams_replica_reads_total',
      help: 'Reads that a replica can serve, by outcome: served, or done on the primary because the replica was behind, refused, failed or away.',
      labelNames: ['outcome'],
      registers,
    }),
    databaseConnections: new Gauge({
      name: 'ams_database_pool_connections',
      help: 'Connections in the database pool of this process by state: used, idle.',
      labelNames: ['state'],
      registers,
    }),
    databaseWaiting: new Gauge({
      name: 'ams_database_pool_waiting',
      help: 'Calls in this process that wait for a database connection.',
      registers,
    }),
    replicaUp: new Gauge({
      name: 'ams_replica_up',
      help: 'Whether this process reads from a replica (1) or not (0).',
      labelNames: ['replica'],
      registers,
    }),
    replicaLag: new Gauge({
      name: 'ams_replica_lag_seconds',
      help: 'How far a replica is behind the primary.',
      labelNames: ['replica'],
      registers,
    }),
    replicaConnections: new Gauge({
      name: 'ams_replica_pool_connections',
      help: 'Connections of this process to a replica by state: used, idle.',
      labelNames: ['replica', 'state'],
      registers,
    }),
  };
}
