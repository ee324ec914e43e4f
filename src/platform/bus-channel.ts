import type { BusCarrier, BusCarrierOptions } from './bus-carrier.ts';
import { closeRedis, connectRedis, failFast } from './redis.ts';

/** How often the listening connection proves that it is alive, in milliseconds. */
const heartbeat_ms = 5_000;

/** One channel of one server: one connection speaks, one listens, and both reconnect for ever. */
export function oneChannel({ url, channel, hear, log }: BusCarrierOptions): BusCarrier {
  const publisher = connectRedis(url, log, failFast);
  const subscriber = connectRedis(url, log, { ...failFast, autoResubscribe: false });
  let listening = false;

  subscriber.on('message', (_channel, payload) => hear(payload));
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
  }, heartbeat_ms);
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
    healthy: () => listening && subscriber.status === 'ready' && publisher.status === 'ready',
    async close() {
      clearInterval(heartbeat);
      await Promise.all([closeRedis(subscriber), closeRedis(publisher)]);
    },
  };
}
