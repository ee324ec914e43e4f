import type { BusConnection, BusConnectionOptions } from './bus.ts';
import { closeRedis, connectCluster, failFast } from '../redis/connect.ts';
import { listenToShards } from './shard-listener.ts';

/** Enough for each of some masters to have some, and few enough for a process to listen to all of them. */
const channelCount = 16;

/** The names of the channels: their last letters put them into slots far from each other. */
export function shardedChannelNames(channel: string): string[] {
  return Array.from({ length: channelCount }, (_, number) => `${channel}:${number.toString(16)}`);
}

/**
 * Sixteen channels in slots of their own, of a cluster (SPUBLISH): what is sent on one goes through the master of its slot and no other.
 * Every process listens to all of them and speaks on one, chosen by chance, so that its messages keep their order and many processes
 * share the masters. When the master of that one is away it speaks on one of another master.
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
  let own = channels[Math.floor(Math.random() * channelCount)] ?? channel;

  /** The next channel of another master; where there is none, the next one. */
  function after(failed: string): string {
    const from = channels.indexOf(failed) + 1;
    const others = [...channels.slice(from), ...channels.slice(0, from - 1)];
    const master = listener.masterOf(failed);
    return others.find((each) => listener.masterOf(each) !== master) ?? others[0] ?? failed;
  }

  async function speak(payload: string): Promise<void> {
    const spokenOn = own;
    try {
      await cluster.spublish(spokenOn, payload);
    } catch (error) {
      log('Redis took no message on a channel of the bus; another one is tried', error);
      if (own === spokenOn) own = after(spokenOn);
      await cluster.spublish(own, payload);
    }
  }

  return {
    async send(payloads) {
      await Promise.all(payloads.map(speak));
    },
    isHealthy: () => cluster.status === 'ready' && listener.isComplete(),
    async close() {
      listener.close();
      await closeRedis(cluster);
    },
  };
}
