import { createPostgresBackend, type PostgresQueueBackend, Queue, Worker } from 'bullmq';
import pg from 'pg';
import { queueNames } from '../../jobs/define.ts';
import { type ErrorLog, createLimitedLog } from '../../shared/error-log.ts';
import { type BullBackend, createBullQueues, type BullQueue } from './bullmq.ts';
import type { JobQueues } from './job-queues.ts';
import { type Tracing, untraced } from '../observability/tracing.ts';

export interface PostgresQueuesOptions {
  url: string;
  /** The schema of BullMQ's tables, created and migrated when first used. */
  schema: string;
  log: ErrorLog;
  tracing?: Tracing;
}

/** Longest sleep of an idle worker in seconds: what a notification lost in an outage can cost. */
const maxSleepSeconds = 5;

/**
 * A commit does not wait for the disk: what a crash of the server takes, the outbox sweep brings back, as with Redis. A queue
 * is mostly empty when statistics are taken; the plans made from that would read the whole table for each job of a backlog.
 */
const sessionSettings = '-c synchronous_commit=off -c enable_seqscan=off -c jit=off';

/**
 * The job queues in PostgreSQL: up to four connections add, and every consumer has one that listens and up to four that work.
 */
export function createPostgresQueues({
  url,
  schema,
  log,
  tracing = untraced,
}: PostgresQueuesOptions): JobQueues {
  const report = createLimitedLog(log);
  const traced = tracing.telemetry && { telemetry: tracing.telemetry };
  const connection = {
    connectionString: url,
    schema,
    migrate: true,
    max: 4,
    connectionTimeoutMillis: 2_000,
    query_timeout: 10_000,
    keepAlive: true,
    options: sessionSettings,
  };

  function guarded(queueBackend: PostgresQueueBackend): PostgresQueueBackend {
    // pg reports the loss of a connection to whoever borrowed it; BullMQ does not listen while it migrates.
    queueBackend.connection.pool.on('connect', (client) =>
      client.on('error', (error) => report('PostgreSQL connection lost', error)),
    );
    queueBackend.on('error', (error) => report('PostgreSQL connection lost', error));
    Object.defineProperty(queueBackend, 'maximumBlockTimeout', { value: maxSleepSeconds });
    Object.defineProperty(queueBackend.connection, 'pgModule', {
      value: { ...pg, Client: createListeningClient },
    });
    return queueBackend;
  }

  async function openProducer(): Promise<Producer> {
    const root = guarded(createPostgresBackend('producer', { connection }));
    try {
      await root.waitUntilReady();
    } catch (error) {
      await root.close();
      throw error;
    }
    const queues = new Map<string, BullQueue>();
    for (const name of queueNames) {
      queues.set(
        name,
        new Queue(name, { connection, skipMetasUpdate: true, ...traced }, () => root.forQueue(name)),
      );
    }
    return { root, queues };
  }

  let opened: Promise<Producer> | undefined;
  function producer(): Promise<Producer> {
    opened ??= openProducer().catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

  const workerBackend: typeof createPostgresBackend = (...args) => guarded(createPostgresBackend(...args));

  async function ping(): Promise<void> {
    await (await producer()).root.connection.pool.query('select 1');
  }

  const backend: BullBackend = {
    async queue(name) {
      const queue = (await producer()).queues.get(name);
      if (!queue) throw new Error(`There is no queue ${name}`);
      return queue;
    },

    async worker(name, processor, tuning) {
      const worker = new Worker(name, processor, { ...tuning, ...traced, connection }, workerBackend);
      worker.on('error', (error) => report(`the worker of queue ${name} met an error`, error));
      try {
        await worker.waitUntilReady();
      } catch (error) {
        await worker.close();
        throw error;
      }
      worker.run().catch((error: unknown) => report(`the worker of queue ${name} stopped`, error));
      return worker;
    },

    instances: async (own) => (own === undefined ? [] : [own]),

    ping,
    check: ping,

    async close() {
      await (await opened)?.root.close();
    },
  };
  return createBullQueues(backend, report, tracing);
}

interface Producer {
  root: PostgresQueueBackend;
  queues: Map<string, BullQueue>;
}

/**
 * What BullMQ makes its listening connection with. It begins to hear of errors a moment after that is connected; one that comes
 * in between would end the process. Here it makes `connect` reject, and BullMQ connects again.
 */
function createListeningClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client(config);
  let fault: Error | undefined;
  client.on('error', (error) => {
    fault = error;
  });
  const connectIt = client.connect.bind(client) as () => Promise<unknown>;
  const connect = async (): Promise<void> => {
    await connectIt();
    if (fault) throw fault;
  };
  return Object.assign(client, { connect });
}
