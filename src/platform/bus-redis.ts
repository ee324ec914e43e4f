import type { Bus } from './bus.ts';
import { topicTable } from './bus-topics.ts';
import { type ErrorLog, limitedLog } from './error-log.ts';
import { closeRedis, connectRedis, failFast } from './redis.ts';

/** How often the listening connection proves that it is alive, in milliseconds. */
const heartbeat_ms = 5_000;

export interface RedisBusOptions {
  url: string;
  /** Put before every channel, so that several installations or test suites share one Redis. */
  prefix: string;
  log: ErrorLog;
}

/** The bus over Redis pub/sub: one connection speaks, one listens, and both reconnect for ever. */
export function redisBus({ url, prefix, log }: RedisBusOptions): Bus {
  const report = limitedLog(log);
  const topics = topicTable(report);
  const publisher = connectRedis(url, report, failFast);
  const subscriber = connectRedis(url, report, { ...failFast, autoResubscribe: false });
  const channelOf = (topic: string): string => `${prefix}${topic}`;
  let listening = false;

  subscriber.on('message', (channel, body) => topics.dispatch(channel.slice(prefix.length), body));
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
    const channels = topics.topics().map(channelOf);
    await (channels.length > 0 ? subscriber.subscribe(...channels) : subscriber.ping());
    listening = subscriber.status === 'ready';
  }

  return {
    async publish(messages) {
      if (messages.length === 0) return;
      if (publisher.status !== 'ready') throw new Error('Redis is not connected: nothing was published');
      const commands = messages.map(({ topic, body }) => ['publish', channelOf(topic), body]);
      const failed = (await publisher.pipeline(commands).exec())?.find(([error]) => error);
      if (failed?.[0]) throw failed[0];
    },

    async subscribe(topic, handler) {
      const remove = topics.add(topic, handler);
      if (subscriber.status === 'ready') await ignoreLostConnection(subscriber.subscribe(channelOf(topic)));
      return async () => {
        if (remove() && subscriber.status === 'ready') {
          await ignoreLostConnection(subscriber.unsubscribe(channelOf(topic)));
        }
      };
    },

    healthy: () => listening && subscriber.status === 'ready' && publisher.status === 'ready',

    async close() {
      clearInterval(heartbeat);
      await Promise.all([closeRedis(subscriber), closeRedis(publisher)]);
    },
  };
}

/** A (un)subscribe that dies with its connection is made up for when the connection is back: the topic table says what stands. */
async function ignoreLostConnection(command: Promise<unknown>): Promise<void> {
  await command.catch(() => undefined);
}
