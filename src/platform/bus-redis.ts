import { fillPayloads, packMessage, unpackMessages } from './bus-packing.ts';
import { topicTable } from './bus-topics.ts';
import type { Bus } from './bus.ts';
import { type ErrorLog, limitedLog } from './error-log.ts';
import { closeRedis, connectRedis, failFast } from './redis.ts';

/** How often the listening connection proves that it is alive, in milliseconds. */
const heartbeat_ms = 5_000;

export interface RedisBusOptions {
  url: string;
  /** Put before the name of the channel, so that several installations or test suites share one Redis. */
  prefix: string;
  log: ErrorLog;
}

/**
 * The bus over Redis pub/sub: one connection speaks, one listens, and both reconnect for ever. All topics share one channel: a
 * message to a thread of 200 rings 200 agents, and as one call of Redis that costs a hundredth of 200 calls; nor does anybody who
 * connects wait for Redis. In return every process hears every ring, and drops those that it has no topic for.
 */
export function redisBus({ url, prefix, log }: RedisBusOptions): Bus {
  const report = limitedLog(log);
  const topics = topicTable(report);
  const publisher = connectRedis(url, report, failFast);
  const subscriber = connectRedis(url, report, { ...failFast, autoResubscribe: false });
  const channel = `${prefix}bus`;
  let listening = false;

  subscriber.on('message', (_channel, payload) => {
    try {
      for (const { topic, body } of unpackMessages(payload)) topics.dispatch(topic, body);
    } catch (error) {
      report('a message on the channel of the bus could not be read', error);
    }
  });
  subscriber.on('close', () => {
    listening = false;
  });
  subscriber.on('ready', () => {
    restore().catch((error: unknown) => {
      report('Redis subscriptions could not be restored', error);
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
    async publish(messages) {
      if (messages.length === 0) return;
      if (publisher.status !== 'ready') throw new Error('Redis is not connected: nothing was published');
      const payloads = fillPayloads(messages.map(packMessage));
      await Promise.all(payloads.map((payload) => publisher.publish(channel, payload)));
    },

    async subscribe(topic, handler) {
      const remove = topics.add(topic, handler);
      return async () => {
        remove();
      };
    },

    healthy: () => listening && subscriber.status === 'ready' && publisher.status === 'ready',

    async close() {
      clearInterval(heartbeat);
      await Promise.all([closeRedis(subscriber), closeRedis(publisher)]);
    },
  };
}
