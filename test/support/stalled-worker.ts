import { createPostgresQueues } from '../../src/platform/queues/postgres.ts';
import { createRedisQueues } from '../../src/platform/queues/redis.ts';

/** A worker process that takes a delivery job, says so on standard output, and never finishes it. It ends with its standard input. */
const [backend, url = '', namespace = ''] = process.argv.slice(2);
process.stdin.once('end', () => process.exit(1)).resume();
const log = (message: string, error: unknown): void => console.error(message, error);
const queues =
  backend === 'redis'
    ? createRedisQueues({ url, prefix: namespace, log })
    : createPostgresQueues({ url, schema: namespace, log });

await queues.consume('delivery', { concurrency: 1 }, async ({ id }) => {
  console.log(id);
  await new Promise(() => undefined);
});
