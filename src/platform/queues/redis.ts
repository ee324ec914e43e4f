import { Queue, QueueKeys, RedisConnection, RedisQueueBackend, Worker } from 'bullmq';
import { queueNames } from '../../jobs/define.ts';
import { type ErrorLog, createLimitedLog, describeError } from '../../shared/error-log.ts';
import {
  type BullBackend,
  type BullProcessor,
  type BullQueue,
  type BullWorkerTuning,
  createBullQueues,
} from './bullmq.ts';
import type { Consumer, JobQueues } from './job-queues.ts';
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

/** Closes a worker connection whose server does not respond; the machine can be down without closing it. */
const socketTimeoutMs = 10_000;
const workerReadyTimeoutMs = 10_000;
const commandReadyTimeoutMs = 2_000;

/** How long the key stays that is written to check whether jobs can be added. */
const checkTtlSeconds = 60;

export interface RedisQueuesOptions {
  url: string;
  /** Part of every key, so that several instances or test suites can share one Redis. */
  prefix: string;
  log: ErrorLog;
  tracing?: Tracing;
}

/**
 * The key prefix of a queue. The part in braces decides the slot of a key. All keys of a queue are in one slot, as scripts require; in a
 * cluster each queue has a slot of its own, so that the masters share the queues.
 */
export function queuePrefix(url: string, prefix: string, queue: string): string {
  return parseRedisAddress(url).kind === 'cluster' ? `{${prefix}:${queue}}` : `{${prefix}}`;
}

/** The job queues in Redis. Producers share one connection; each consumer has two of its own. */
export function createRedisQueues({ url, prefix, log, tracing = untraced }: RedisQueuesOptions): JobQueues {
  const report = createLimitedLog(log);
  const traced = tracing.telemetry && { telemetry: tracing.telemetry };
  const prefixOf = (queue: string) => queuePrefix(url, prefix, queue);
  const producer = connectRedis(url, report, failFast);
  const queues = new Map<string, BullQueue>();
  for (const name of queueNames) {
    const queue = new Queue(name, {
      connection: producer,
      prefix: prefixOf(name),
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

    worker: (name, processor, tuning) =>
      startWorker(name, processor, { ...tuning, ...traced, prefix: prefixOf(name) }, { url, report }),

    async instances(own) {
      await waitUntilReady(producer, commandReadyTimeoutMs);
      return listInstances(producer, `${prefixOf('installations')}:installations`, own);
    },

    async ping() {
      await waitUntilReady(producer, commandReadyTimeoutMs);
      // In a cluster each queue can have another master, and all of them are needed.
      await Promise.all(queueNames.map((name) => producer.exists(`${prefixOf(name)}:${name}:meta`)));
    },

    async check() {
      await waitUntilReady(producer, commandReadyTimeoutMs);
      const keys = new Set(queueNames.map((name) => `${prefixOf(name)}:takes-jobs`));
      try {
        await Promise.all(Array.from(keys, (key) => producer.set(key, '', 'EX', checkTtlSeconds)));
      } catch (error) {
        throw new Error(`Redis takes no jobs: ${describeError(error)}`, { cause: error });
      }
      for (const server of 'nodes' in producer ? producer.nodes('master') : [producer]) {
        const memory = await server.info('memory');
        const policy = /maxmemory_policy:(allkeys-[a-z]+)/.exec(memory)?.[1];
        if (policy && !/maxmemory:0\r/.test(memory))
          throw new Error(`Redis may remove jobs: its maxmemory-policy is ${policy}`);
      }
    },

    close: () => closeRedis(producer),
  };
  return createBullQueues(backend, report, tracing);
}

async function startWorker(
  name: string,
  processor: BullProcessor,
  options: BullWorkerTuning & { prefix: string },
  { url, report }: { url: string; report: ErrorLog },
): Promise<Consumer> {
  let isClosing = false;
  const retryStrategy = (attempt: number) => (isClosing ? null : Math.min(50 * attempt, 1_000));
  const commands = connectRedis(url, report, {
    ...waitForever,
    retryStrategy,
    socketTimeout: socketTimeoutMs,
  });
  const blocking = connectRedis(url, report, { ...waitForever, retryStrategy });
  const worker = new Worker(name, processor, { ...options, connection: commands }, (_name, opts) =>
    createWorkerBackend(name, opts, options.prefix, { commands, blocking }),
  );
  worker.on('error', (error) => report(`the worker of queue ${name} reported an error`, error));

  async function close(): Promise<void> {
    isClosing = true;
    await waitWhileReconnecting(blocking);
    await waitForClose(worker.close(), commands);
    await Promise.all([closeRedis(commands), closeRedis(blocking)]);
  }

  try {
    await Promise.all([
      waitUntilReady(commands, workerReadyTimeoutMs),
      waitUntilReady(blocking, workerReadyTimeoutMs),
    ]);
    await worker.waitUntilReady();
  } catch (error) {
    await close();
    throw error;
  }
  worker.run().catch((error: unknown) => report(`the worker of queue ${name} stopped`, error));
  return { close };
}

type BackendOptions = ConstructorParameters<typeof RedisQueueBackend>[4];

/** BullMQ's Redis backend over our connections, so that a worker can be closed while Redis is down. */
function createWorkerBackend(
  name: string,
  opts: BackendOptions,
  prefix: string,
  { commands, blocking }: { commands: RedisClient; blocking: RedisClient },
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
 * BullMQ interrupts its blocking read by disconnecting, and waits for the event `end`, which ioredis does not emit between two attempts
 * to connect. Reconnecting is switched off by now, so that state lasts a second at most.
 */
async function waitWhileReconnecting(client: RedisClient): Promise<void> {
  if (client.status === 'reconnecting' || client.status === 'connecting')
    await waitUntilReady(client, 3_000).catch(() => 'ended');
}

/**
 * BullMQ waits for the event `end`, which a cluster without any node does not emit. The worker cannot report any result then; another worker
 * runs its jobs again.
 */
async function waitForClose(closed: Promise<void>, client: RedisClient): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const lostAllNodes = new Promise<void>((resolve) => {
    timer = setInterval(() => {
      if (client.isCluster && client.status !== 'ready') resolve();
    }, 2_000);
  });
  try {
    await Promise.race([closed, lostAllNodes]);
  } finally {
    clearInterval(timer);
  }
}
