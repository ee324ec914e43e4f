import { Redis, type RedisOptions } from 'ioredis';
import { type ErrorLog, reasonOf } from './error-log.ts';

/** Commands fail fast: none waits for a connection, for a second try, or longer than two seconds. */
export const failFast: RedisOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: 2_000,
  socketTimeout: 5_000,
};

/** Commands wait until Redis is back, as BullMQ wants it of its workers. */
export const patient: RedisOptions = { maxRetriesPerRequest: null };

/** A client that reconnects for ever, at most a second after Redis is back, and reports its errors to `log`. */
export function connectRedis(url: string, log: ErrorLog, options: RedisOptions): Redis {
  const client = new Redis(url, {
    retryStrategy: (attempt) => Math.min(50 * attempt, 1_000),
    reconnectOnError: (error) => error.message.startsWith('READONLY'),
    connectTimeout: 5_000,
    keepAlive: 10_000,
    ...options,
  });
  client.on('error', (error) => log('Redis connection failed', error));
  client.on('reconnecting', () =>
    log('Redis connection lost', new Error('the connection ended: reconnecting')),
  );
  return client;
}

/** Resolves when the client is connected; rejects with the reason after `limit_ms` milliseconds, or when it was closed. */
export async function redisReady(client: Redis, limit_ms: number): Promise<void> {
  if (client.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    let reason = 'no answer';
    const noteError = (error: unknown): void => {
      reason = reasonOf(error);
    };
    const settle = (): void => {
      clearTimeout(timer);
      client.off('ready', settle).off('end', settle).off('error', noteError);
      if (client.status === 'ready') resolve();
      else reject(new Error(`Redis is not connected: ${reason}`));
    };
    const timer = setTimeout(settle, limit_ms);
    client.on('ready', settle).on('end', settle).on('error', noteError);
  });
}

/** Ends the connection for good. Commands already sent are answered first when Redis is there. */
export async function closeRedis(client: Redis): Promise<void> {
  if (client.status === 'ready')
    await client.quit().catch(() => 'the connection went first: closed is closed');
  client.disconnect();
}
