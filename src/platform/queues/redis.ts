import { Queue, QueueKeys, RedisConnection, RedisQueueBackend, Worker } from 'bullmq';
import { queueNames } from '../../jobs/define.ts';
import { type ErrorLog, createLimitedLog, describeError } from '../../shared/error-log.ts';
import { type BullBackend, createBullQueues, type BullQueue } from './bullmq.ts';
import type { JobQueues } from './job-queues.ts';
import { type Tracing, untraced } from '../observability/tracing.ts';
import { parseRedisAddress } from '../redis/address.ts';
import { listInstances } from '../redis/instances.ts';
import {
  closeRedis,
  connectRedis,
  failFast,
  waitForever,
  type RedisClient,
  waitUntilReady,
} from '../redis/connect.ts';

/** How long a server may leave a worker without an answer, in milliseconds; its machine may be gone without a word. */
const socketTimeoutMs = 10_000;

/** How long what was written to see whether jobs can be added stays, in seconds. */
const checkTtlSeconds = 60;

export interface RedisQueuesOptions {
  url: string;
  /** Stands in every key, so that several installations or test suites share one Redis. */
  prefix: string;
  log: ErrorLog;
  tracing?: Tracing;
}

/**
 * What stands before the keys of a queue. What is in braces decides the slot of a key: all keys of a queue are in one slot, as scripts need
 * it, and in a cluster each queue is in one of its own, so that its masters share the queues.
 */
export function queuePrefix(url: string, prefix: string, queue: string): string {
  return parseRedisAddress(url).kind === 'cluster' ? `{${prefix}:${queue}}` : `{${prefix}}`;
}

/** The job queues in Redis: one connection adds, and every consumer has two of its own. */
export function createRedisQueues({ url, prefix, log, tracing = untraced }: RedisQueuesOptions): JobQueues {
  const report = createLimitedLog(log);
  const traced = tracing.telemetry && { telemetry: tracing.telemetry };
  const producer = connectRedis(url, report, failFast);
  const queues = new Map<string, BullQueue>();
  for (const name of queueNames) {
    const queue = new Queue(name, {
      connection: producer,
      prefix: queuePrefix(url, prefix, name),
      ...traced,
      skipVersionCheck: true,
      skipMetasUpdate: true,
    });
    queue.on('error', () => 'the connection reports its errors itself');
    queues.set(name, queue);
  }

  const backend: BullBackend = {
    async queue(name) {
      const queue = queues.get(name);
      if (!queue) throw new Error(`There is no queue ${name}`);
      if (producer.status !== 'ready') throw new Error('Redis is not connected: no job was added');
      return queue;
    },

    async worker(name, processor, tuning) {
      let closing = false;
      const options = {
        ...waitForever,
        retryStrategy: (n: number) => (closing ? null : Math.min(50 * n, 1_000)),
      };
      const commands = connectRedis(url, report, { ...options, socketTimeout: socketTimeoutMs });
      const blocking = connectRedis(url, report, options);
      const keyPrefix = queuePrefix(url, prefix, name);
      const worker = new Worker(
        name,
        processor,
        { ...tuning, ...traced, connection: commands, prefix: keyPrefix },
        (_name, opts) => workerBackend(name, opts, keyPrefix, commands, blocking),
      );
      worker.on('error', (error) => report(`the worker of queue ${name} met an error`, error));
      const close = async (): Promise<void> => {
        closing = true;
        await waitWhileReconnecting(blocking);
        await waitForClose(worker.close(), commands);
        await Promise.all([closeRedis(commands), closeRedis(blocking)]);
      };
      try {
        await Promise.all([waitUntilReady(commands, 10_000), waitUntilReady(blocking, 10_000)]);
        await worker.waitUntilReady();
      } catch (error) {
        await close();
        throw error;
      }
      worker.run().catch((error: unknown) => report(`the worker of queue ${name} stopped`, error));
      return { close };
    },

    async instances(own) {
      await waitUntilReady(producer, 2_000);
      return listInstances(producer, `${queuePrefix(url, prefix, 'installations')}:installations`, own);
    },

    async ping() {
      await waitUntilReady(producer, 2_000);
      // In a cluster each queue may be with another master, and each of them must be there.
      await Promise.all(
        queueNames.map((name) => producer.exists(`${queuePrefix(url, prefix, name)}:${name}:meta`)),
      );
    },

    async check() {
      await waitUntilReady(producer, 2_000);
      const places = new Set(queueNames.map((name) => `${queuePrefix(url, prefix, name)}:takes-jobs`));
      try {
        await Promise.all(Array.from(places, (key) => producer.set(key, '', 'EX', checkTtlSeconds)));
      } catch (error) {
        throw new Error(`Redis takes no jobs: ${describeError(error)}`, { cause: error });
      }
    },

    close: () => closeRedis(producer),
  };
  return createBullQueues(backend, report, tracing);
}

type BackendOptions = ConstructorParameters<typeof RedisQueueBackend>[4];

/** BullMQ's own Redis backend over connections that stay ours, so that a worker can be closed while Redis is away. */
function workerBackend(
  name: string,
  opts: BackendOptions,
  prefix: string,
  commands: RedisClient,
  blocking: RedisClient,
): RedisQueueBackend {
  const keys = new QueueKeys(prefix);
  return new RedisQueueBackend(
    new RedisConnection(commands, { shared: true, blocking: false }),
    name,
    keys.getKeys(name),
    (type) => keys.toKey(name, type),
    opts,
    new RedisConnection(blocking, { shared: true, blocking: true }),
  );
}

/**
 * BullMQ interrupts its blocking read by disconnecting, and waits for the `end` that ioredis does not send between two
 * attempts to connect. With reconnecting switched off, that state lasts a second at most.
 */
async function waitWhileReconnecting(client: RedisClient): Promise<void> {
  if (client.status === 'reconnecting' || client.status === 'connecting')
    await waitUntilReady(client, 3_000).catch(() => 'ended');
}

/**
 * BullMQ waits for the `end` of a connection that a cluster without any node left does not send. Nothing that a worker has under way could
 * be reported then; another one does it again.
 */
async function waitForClose(closed: Promise<void>, client: RedisClient): Promise<void> {
  let look: NodeJS.Timeout | undefined;
  const alone = new Promise<void>((resolve) => {
    look = setInterval(() => {
      if (client.isCluster && client.status !== 'ready') resolve();
    }, 2_000);
  });
  try {
    await Promise.race([closed, alone]);
  } finally {
    clearInterval(look);
  }
}
