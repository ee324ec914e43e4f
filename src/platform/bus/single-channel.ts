import type { RedisOptions } from 'ioredis';
import type { BusConnection, BusConnectionOptions } from './bus.ts';
import { closeRedis, connectRedis, failFast } from '../redis/connect.ts';

const heartbeatMs = 5_000;

/**
 * One channel of one server: one connection sends, one listens. Both reconnect without limit. The databases of a server share their channels,
 * so the name ends with the number of the database, except for the first one.
 */
export function connectSingleChannel(options: BusConnectionOptions): BusConnection {
  const { url, onPayload, log } = options;
  const publisher = connectRedis(url, log, failFast);
  const { db = 0 } = publisher.options as RedisOptions;
  const channel = db === 0 ? options.channel : `${options.channel}:${db}`;
  const subscriber = connectRedis(url, log, { ...failFast, autoResubscribe: false });
  let isListening = false;

  subscriber.on('message', (_channel, payload) => onPayload(payload));
  subscriber.on('close', () => {
    isListening = false;
  });
  subscriber.on('ready', () => {
    restore().catch((error: unknown) => {
      log('Redis subscriptions could not be restored', error);
      reconnect();
    });
  });
  const heartbeat = setInterval(() => {
    if (isListening) subscriber.ping().catch(reconnect);
  }, heartbeatMs);
  heartbeat.unref();

  function reconnect(): void {
    if (subscriber.status === 'ready') subscriber.disconnect(true);
  }

  async function restore(): Promise<void> {
    await subscriber.subscribe(channel);
    isListening = subscriber.status === 'ready';
  }

  return {
    async send(payloads) {
      if (publisher.status !== 'ready') throw new Error('Redis is not connected: nothing was published');
      await Promise.all(payloads.map((payload) => publisher.publish(channel, payload)));
    },
    isHealthy: () => isListening && subscriber.status === 'ready' && publisher.status === 'ready',
    async close() {
      clearInterval(heartbeat);
      await Promise.all([closeRedis(subscriber), closeRedis(publisher)]);
    },
  };
}
