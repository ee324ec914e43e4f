import {
  type BackendFactory,
  PostgresConnection,
  type PostgresConnectionOptions,
  PostgresQueueBackend,
  Queue,
  Worker,
} from 'bullmq';
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

/**
 * A commit does not wait for the disk: the outbox sweep restores what a crash of the server loses, as with Redis. A queue is mostly empty
 * when PostgreSQL collects statistics; plans made from those would read the whole table for each job of a backlog.
 */
const sessionSettings = '-c synchronous_commit=off -c enable_seqscan=off -c jit=off';

/** A backend whose idle workers look for jobs every few seconds: a notification can be lost in an outage. */
class PollingBackend extends PostgresQueueBackend {
  /** In seconds. BullMQ's own value is one hour. */
  override get maximumBlockTimeout(): number {
    return 5;
  }

  isClosing = false;

  override async close(force?: boolean): Promise<void> {
    this.isClosing = true;
    await super.close(force);
  }
}

/**
 * The job queues in PostgreSQL. Producers share up to four connections; each consumer has one that listens and up to four that work.
 */
export function createPostgresQueues({
  url,
  schema,
  log,
  tracing = untraced,
}: PostgresQueuesOptions): JobQueues {
  const report = createLimitedLog(log);
  const traced = tracing.telemetry && { telemetry: tracing.telemetry };
  const connection = createConnectionOptions(url, schema);
  const createBackend = createBackendFactory(report);

  let opened: Promise<Producer> | undefined;
  function producer(): Promise<Producer> {
    opened ??= openProducer(
      createBackend('producer', { connection }),
      (name, root) =>
        new Queue(name, { connection, skipMetasUpdate: true, ...traced }, () => root.forQueue(name)),
    ).catch((error: unknown) => {
      opened = undefined;
      throw error;
    });
    return opened;
  }

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
      const worker = new Worker(name, processor, { ...tuning, ...traced, connection }, createBackend);
      let isClosed = false;
      worker.once('closed', () => (isClosed = true));
      worker.on(
        'error',
        (error) => isClosed || report(`the worker of queue ${name} reported an error`, error),
      );
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

function createConnectionOptions(url: string, schema: string) {
  return {
    connectionString: url,
    schema,
    migrate: true,
    max: 4,
    connectionTimeoutMillis: 2_000,
    query_timeout: 10_000,
    keepAlive: true,
    options: sessionSettings,
  };
}

/** As BullMQ's own `createPostgresBackend`, with our backend and with a listener for every error of a connection. */
function createBackendFactory(
  report: ErrorLog,
): BackendFactory<PostgresQueueBackend, PostgresConnectionOptions> {
  return (name, options, { withBlockingConnection } = {}) => {
    const connection = new PostgresConnection(options.connection);
    const onError = (error: unknown) => backend.isClosing || report('PostgreSQL connection lost', error);
    // pg emits the loss of a borrowed connection on its client; BullMQ does not listen there while it migrates.
    connection.pool.on('connect', (client) => client.on('error', onError));
    // A private member of BullMQ: see docs/decisions/0017-library-internals.md.
    Object.defineProperty(connection, 'pgModule', { value: { ...pg, Client: createListeningClient } });
    const listenerName = withBlockingConnection ? name : undefined;
    const backend = new PollingBackend(connection, name, options, true, listenerName);
    backend.on('error', onError);
    return backend;
  };
}

interface Producer {
  root: PostgresQueueBackend;
  queues: Map<string, BullQueue>;
}

async function openProducer(
  root: PostgresQueueBackend,
  createQueue: (name: string, root: PostgresQueueBackend) => BullQueue,
): Promise<Producer> {
  try {
    await root.waitUntilReady();
  } catch (error) {
    await root.close();
    throw error;
  }
  return { root, queues: new Map(queueNames.map((name) => [name, createQueue(name, root)])) };
}

/**
 * The client for BullMQ's listening connection. BullMQ adds its error listener only after `connect` has resolved, and an error before that
 * would end the process. Here such an error makes `connect` reject, and BullMQ connects again.
 */
export function createListeningClient(config: pg.ClientConfig): pg.Client {
  const client = new pg.Client(config);
  let earlyError: Error | undefined;
  client.on('error', (error) => {
    earlyError = error;
  });
  const connectClient = client.connect.bind(client) as () => Promise<unknown>;
  const connect = async (): Promise<void> => {
    await connectClient();
    if (earlyError) throw earlyError;
  };
  return Object.assign(client, { connect });
}
