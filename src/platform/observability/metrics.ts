import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { FastHistogram } from './fast-histogram.ts';

/** Seconds: from what a statement takes to what a caller waits at most. */
const durationBuckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds: what stands in a queue may be as old as an outage is long. */
const lagBuckets = [...durationBuckets, 60, 300, 1_800];

/**
 * What a process counts for Prometheus, in base units. Every label has few values, of our own making: never a path, an id, or a
 * word of a caller. The registry belongs to one process (or one test), and measures the process itself only when told to.
 */
export function createMetrics({ version, part }: { version: string; part: string }) {
  const registry = new Registry();
  const registers = [registry];
  const build = new Gauge({
    name: 'ams_build_info',
    help: 'The release, and the Node.js, that this process runs.',
    labelNames: ['version', 'node_version', 'part'],
    registers,
  });
  build.set({ version, node_version: process.version, part }, 1);

  return {
    registry,
    /** Begins to watch the process: memory, processor time, event loop, garbage collection. */
    watchProcess: () => collectDefaultMetrics({ register: registry }),

    requests: new Histogram({
      name: 'http_request_duration_seconds',
      help: 'Time to answer a request, up to its headers where the answer is a stream.',
      labelNames: ['method', 'route', 'status'],
      buckets: durationBuckets,
      registers,
    }),
    operations: new Counter({
      name: 'ams_operations_total',
      help: 'Operations by transport and outcome: ok, refused (the caller can correct it), failed.',
      labelNames: ['operation', 'transport', 'outcome'],
      registers,
    }),
    deliveryLatency: new FastHistogram({
      name: 'ams_delivery_latency_seconds',
      help: 'From the change to its event being written to a stream that was up to date.',
      label: 'transport',
      buckets: lagBuckets,
      registers,
    }),
    feedLag: new FastHistogram({
      name: 'ams_feed_lag_seconds',
      help: 'From the ring for a stream to its events being written.',
      label: 'transport',
      buckets: lagBuckets,
      registers,
    }),
    slowReaders: new Counter({
      name: 'ams_slow_readers_closed_total',
      help: 'Connections ended because they read too slowly.',
      labelNames: ['transport'],
      registers,
    }),
    webSocketCloses: new Counter({
      name: 'ams_websocket_closes_total',
      help: 'WebSockets ended, by close code.',
      labelNames: ['code'],
      registers,
    }),
    jobs: new Histogram({
      name: 'ams_job_duration_seconds',
      help: 'Time that a worker spent on a job, by whether it was done.',
      labelNames: ['job', 'outcome'],
      buckets: durationBuckets,
      registers,
    }),
    searchIndexLag: new Histogram({
      name: 'ams_search_index_lag_seconds',
      help: 'From a message being sent to its being found.',
      buckets: lagBuckets,
      registers,
    }),
    webhookAttempts: new Counter({
      name: 'ams_webhook_attempts_total',
      help: 'Attempts to post to webhooks: delivered, refused (another status), unreachable.',
      labelNames: ['outcome'],
      registers,
    }),
    scans: new Counter({
      name: 'ams_attachment_scans_total',
      help: 'Scans of attachments: clean, infected, failed, or no scanner could judge (away).',
      labelNames: ['outcome'],
      registers,
    }),

    replicaReads: new Counter({
      name: 'ams_replica_reads_total',
      help: 'Reads that a replica may do: served there, or done on the primary since it was behind, refused, failed or away.',
      labelNames: ['outcome'],
      registers,
    }),

    // Asked for when somebody looks.
    parts: new Gauge({
      name: 'ams_part_up',
      help: 'Whether a part that this process needs answers (1) or not (0).',
      labelNames: ['part'],
      registers,
    }),
    queueJobs: new Gauge({
      name: 'ams_queue_jobs',
      help: 'Jobs in a queue by state; every process tells the same.',
      labelNames: ['queue', 'state'],
      registers,
    }),
    queueAge: new Gauge({
      name: 'ams_queue_oldest_job_age_seconds',
      help: 'How long the oldest job that could be done waits; every process tells the same.',
      labelNames: ['queue'],
      registers,
    }),
    outboxJobs: new Gauge({
      name: 'ams_outbox_jobs',
      help: 'Jobs that are owed since a commit and not done yet; every process tells the same.',
      registers,
    }),
    partitionsAhead: new Gauge({
      name: 'ams_partitions_ahead_seconds',
      help: 'How far ahead of now there are partitions of a table; every process tells the same.',
      labelNames: ['table'],
      registers,
    }),
    outboxAge: new Gauge({
      name: 'ams_outbox_oldest_job_age_seconds',
      help: 'How long the oldest job has been owed; every process tells the same.',
      registers,
    }),
    databaseConnections: new Gauge({
      name: 'ams_database_pool_connections',
      help: 'Connections of the pool of this process: used, idle.',
      labelNames: ['state'],
      registers,
    }),
    databaseWaiting: new Gauge({
      name: 'ams_database_pool_waiting',
      help: 'Callers in this process that wait for a connection.',
      registers,
    }),
    replicaUp: new Gauge({
      name: 'ams_replica_up',
      help: 'Whether a replica is read (1) or left alone (0).',
      labelNames: ['replica'],
      registers,
    }),
    replicaLag: new Gauge({
      name: 'ams_replica_lag_seconds',
      help: 'Since when a replica lacks what the primary had.',
      labelNames: ['replica'],
      registers,
    }),
    replicaConnections: new Gauge({
      name: 'ams_replica_pool_connections',
      help: 'Connections of this process to a replica: used, idle.',
      labelNames: ['replica', 'state'],
      registers,
    }),
    /** Counts open streams by transport at each scrape. */
    countStreams: (census: () => Iterable<readonly [transport: string, open: number]>) =>
      new Gauge({
        name: 'ams_open_streams',
        help: 'Open sockets, streams and waiting calls of this process, by transport.',
        labelNames: ['transport'],
        registers,
        collect() {
          for (const [transport, open] of census()) this.set({ transport }, open);
        },
      }),
  };
}

export type Metrics = ReturnType<typeof createMetrics>;
