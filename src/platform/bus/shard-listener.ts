import { type Cluster, Command, Redis } from 'ioredis';
import type { ErrorLog } from '../../shared/error-log.ts';

/** How often each listening connection proves that it is alive, in milliseconds. */
const heartbeatMs = 5_000;
/** The pause before a lost connection is made again, in milliseconds: a master that died has no heir yet. */
const reconnectDelayMs = 250;

export interface ShardListener {
  /** Whether every channel is listened to at the master of its slot. */
  isComplete(): boolean;
  /** The master that a channel belongs to now, as `host:port`. */
  masterOf(channel: string): string | undefined;
  close(): void;
}

export interface ShardListenerParts {
  /** Knows the masters; `refresh` is emitted whenever they were asked for. */
  cluster: Cluster;
  channels: readonly string[];
  onPayload(payload: string): void;
  log: ErrorLog;
}

interface ShardConnection {
  client: Redis;
  requested: Set<string>;
  subscribed: Set<string>;
}

/**
 * Listens to channels of a cluster (SSUBSCRIBE), with one connection to each master that any of them belongs to. Where the channels
 * belong is looked at anew whenever the cluster was asked, and a quarter of a second after a connection was lost.
 */
export function listenToShards({ cluster, channels, onPayload, log }: ShardListenerParts): ShardListener {
  const slots = new Map(channels.map((channel) => [channel, new Command('ssubscribe', [channel]).getSlot()]));
  const ears = new Map<string, ShardConnection>();
  let again: NodeJS.Timeout | undefined;
  let closed = false;

  function masterOf(channel: string): string | undefined {
    return cluster.slots[slots.get(channel) ?? 0]?.[0];
  }

  function attune(): void {
    if (closed) return;
    const masters = new Map<string, string[]>();
    for (const channel of channels) {
      const master = masterOf(channel);
      if (master !== undefined) masters.set(master, [...(masters.get(master) ?? []), channel]);
    }
    for (const [master, ear] of ears) {
      const wanted = new Set(masters.get(master));
      if (wanted.size === 0 || [...ear.requested].some((channel) => !wanted.has(channel))) drop(master, ear);
    }
    for (const [master, wanted] of masters) {
      const ear = ears.get(master) ?? open(master);
      for (const channel of wanted) if (!ear.requested.has(channel)) void listen(master, ear, channel);
    }
  }

  function open(master: string): ShardConnection {
    const colon = master.lastIndexOf(':');
    const client = new Redis({
      ...cluster.options.redisOptions,
      host: master.slice(0, colon),
      port: Number(master.slice(colon + 1)),
      enableOfflineQueue: true,
      autoResubscribe: false,
      retryStrategy: null,
    });
    const ear: ShardConnection = { client, requested: new Set(), subscribed: new Set() };
    client.on('smessage', (_channel, payload) => onPayload(payload));
    client.on('error', (error) => lose(master, ear, error));
    client.on('end', () => lose(master, ear, new Error('the connection ended')));
    ears.set(master, ear);
    return ear;
  }

  async function listen(master: string, ear: ShardConnection, channel: string): Promise<void> {
    ear.requested.add(channel);
    try {
      await ear.client.ssubscribe(channel);
      ear.subscribed.add(channel);
    } catch (error) {
      lose(master, ear, error);
    }
  }

  function drop(master: string, ear: ShardConnection): void {
    ears.delete(master);
    ear.client.disconnect();
  }

  /** It moved, it died, or it says what nobody asked for, as when one of its slots goes to another master. */
  function lose(master: string, ear: ShardConnection, error: unknown): void {
    if (closed || ears.get(master) !== ear) return;
    log('Redis shard subscription lost', error);
    drop(master, ear);
    again ??= setTimeout(() => {
      again = undefined;
      cluster.refreshSlotsCache(attune);
    }, reconnectDelayMs).unref();
  }

  cluster.on('refresh', attune);
  const heartbeat = setInterval(() => {
    for (const [master, ear] of ears) ear.client.ping().catch((error: unknown) => lose(master, ear, error));
  }, heartbeatMs).unref();

  return {
    isComplete: () => channels.every((channel) => ears.get(masterOf(channel) ?? '')?.subscribed.has(channel)),
    masterOf,
    close() {
      closed = true;
      clearInterval(heartbeat);
      clearTimeout(again);
      for (const { client } of ears.values()) client.disconnect();
    },
  };
}
