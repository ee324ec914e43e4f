import type { BusConnection, BusConnectionOptions } from './bus.ts';
import { closeRedis, connectRedis, failFast } from '../redis/connect.ts';

/** How often the listening connection proves that it is alive, in milliseconds. */
const heartbeatMs = 5_000;

/** One channel of one server: one connection speaks, one listens, and both reconnect for ever. */
export function connectSingleChannel({ url, channel, onPayload, log }: BusConnectionOptions): BusConnection {
  const publisher = connectRedis(url, log, failFast);
  const subscriber = connectRedis(url, log, { ...failFast, autoResubscribe: false });
  let listening = false;

  subscriber.on('message', (_channel, payload) => onPayload(payload));
  subscriber.on('close', () => {
    listening = false;
  });
  subscriber.on('ready', () => {
    restore().catch((error: unknown) => {
      log('Redis subscriptions could not be restored', error);
      reconnect();
    });
  });
  const heartbeat = setInterval(() => {
    if (listening) subscriber.ping().catch(reconnect);
  }, heartbeatMs);
  heartbeat.unref();

  function reconnect(): void {
    if (subscriber.status === 'ready') subscriber.disconnect(true);
  }

  async function restore(): Promise<void> {
    await subscriber.subscribe(channel);
    listening = subscriber.status === 'ready';
  }

  return {
    async send(payloads) {
      if (publisher.status !== 'ready') throw new Error('Redis is not connected: nothing was published');
      await Promise.all(payloads.map((payload) => publisher.publish(channel, payload)));
    },
    isHealthy: () => listening && subscriber.status === 'ready' && publisher.status === 'ready',
    async close() {
      clearInterval(heartbeat);
      await Promise.all([closeRedis(subscriber), closeRedis(publisher)]);
    },
  };
}
