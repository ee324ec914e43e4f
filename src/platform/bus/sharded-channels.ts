import type { BusConnection, BusConnectionOptions } from './bus.ts';
import { closeRedis, connectCluster, failFast } from '../redis/connect.ts';
import { listenToShards } from './shard-listener.ts';

/** Enough for several masters, and few enough for every process to subscribe to all. */
const channelCount = 16;

/** The channel names: their last characters put them into distant slots. */
export function shardedChannelNames(channel: string): string[] {
  return Array.from({ length: channelCount }, (_, number) => `${channel}:${number.toString(16)}`);
}

/**
 * Sixteen channels of a cluster in different slots (SPUBLISH): a message passes only the master of its slot. Every process subscribes to all
 * channels and sends on one random channel, so its messages keep their order and processes share the masters. When that master is
 * unavailable, it sends on a channel of another master.
 */
export function connectShardedChannels({
  url,
  channel,
  onPayload,
  log,
}: BusConnectionOptions): BusConnection {
  const channels = shardedChannelNames(channel);
  const cluster = connectCluster(url, log, failFast);
  const listener = listenToShards({ cluster, channels, onPayload, log });
  let current = channels[Math.floor(Math.random() * channelCount)] ?? channel;

  /** The next channel of another master; the next channel at all when there is no other master. */
  function after(failed: string): string {
    const from = channels.indexOf(failed) + 1;
    const others = [...channels.slice(from), ...channels.slice(0, from - 1)];
    const master = listener.masterOf(failed);
    return others.find((each) => listener.masterOf(each) !== master) ?? others[0] ?? failed;
  }

  async function send(payload: string): Promise<void> {
    const usedChannel = current;
    try {
      await cluster.spublish(usedChannel, payload);
    } catch (error) {
      log('Redis took no message on a channel of the bus; another one is tried', error);
      if (current === usedChannel) current = after(usedChannel);
      await cluster.spublish(current, payload);
    }
  }

  return {
    async send(payloads) {
      await Promise.all(payloads.map(send));
    },
    isHealthy: () => cluster.status === 'ready' && listener.isComplete(),
    async close() {
      listener.close();
      await closeRedis(cluster);
    },
  };
}
