import { type Cluster, Command, Redis } from 'ioredis';
import type { ErrorLog } from '../../shared/error-log.ts';

const heartbeatMs = 5_000;
/** The pause before a lost connection is opened again: a failover takes longer than one attempt. */
const reconnectDelayMs = 250;

export interface ShardListener {
  /** Whether every channel is subscribed at the master of its slot. */
  isComplete(): boolean;
  /** The current master of a channel, as `host:port`. */
  masterOf(channel: string): string | undefined;
  close(): void;
}

export interface ShardListenerParts {
  /** Knows the masters; emits `refresh` after it has read the slots. */
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
 * Subscribes to channels of a cluster (SSUBSCRIBE), with one connection to each master that serves any of them. The channels are assigned to
 * masters again after each refresh of the slots, and 250 ms after a connection was lost.
 */
export function listenToShards({ cluster, channels, onPayload, log }: ShardListenerParts): ShardListener {
  const masterOf = createMasterLookup(cluster, channels);
  const connections = new Map<string, ShardConnection>();
  let refreshTimer: NodeJS.Timeout | undefined;
  let isClosed = false;

  function assignChannels(): void {
    if (isClosed) return;
    const channelsOf = groupByMaster(channels, masterOf);
    for (const [master, connection] of connections) {
      const wanted = new Set(channelsOf.get(master));
      const isStale = [...connection.requested].some((channel) => !wanted.has(channel));
      if (wanted.size === 0 || isStale) drop(master, connection);
    }
    for (const [master, wanted] of channelsOf) {
      const connection = connections.get(master) ?? open(master);
      for (const channel of wanted) {
        if (!connection.requested.has(channel)) void subscribe(master, connection, channel);
      }
    }
  }

  function open(master: string): ShardConnection {
    const client = connectToMaster(cluster, master);
    const connection: ShardConnection = { client, requested: new Set(), subscribed: new Set() };
    client.on('smessage', (_channel, payload) => onPayload(payload));
    client.on('error', (error) => onLost(master, connection, error));
    client.on('end', () => onLost(master, connection, new Error('the connection ended')));
    connections.set(master, connection);
    return connection;
  }

  async function subscribe(master: string, connection: ShardConnection, channel: string): Promise<void> {
    connection.requested.add(channel);
    try {
      await connection.client.ssubscribe(channel);
      connection.subscribed.add(channel);
    } catch (error) {
      onLost(master, connection, error);
    }
  }

  function drop(master: string, { client }: ShardConnection): void {
    connections.delete(master);
    client.disconnect();
  }

  /** The slot moved, the master is down, or the server ended the subscription, as when a slot moves to another master. */
  function onLost(master: string, connection: ShardConnection, error: unknown): void {
    if (isClosed || connections.get(master) !== connection) return;
    log('Redis shard subscription lost', error);
    drop(master, connection);
    refreshTimer ??= setTimeout(() => {
      refreshTimer = undefined;
      cluster.refreshSlotsCache(assignChannels);
    }, reconnectDelayMs).unref();
  }

  cluster.on('refresh', assignChannels);
  const heartbeat = setInterval(() => {
    for (const [master, connection] of connections)
      connection.client.ping().catch((error: unknown) => onLost(master, connection, error));
  }, heartbeatMs).unref();

  return {
    isComplete: () =>
      channels.every((channel) => connections.get(masterOf(channel) ?? '')?.subscribed.has(channel)),
    masterOf,
    close() {
      isClosed = true;
      clearInterval(heartbeat);
      clearTimeout(refreshTimer);
      for (const { client } of connections.values()) client.disconnect();
    },
  };
}

type MasterLookup = ShardListener['masterOf'];

function createMasterLookup(cluster: Cluster, channels: readonly string[]): MasterLookup {
  const slots = new Map(channels.map((channel) => [channel, new Command('ssubscribe', [channel]).getSlot()]));
  return (channel) => cluster.slots[slots.get(channel) ?? 0]?.[0];
}

function groupByMaster(channels: readonly string[], masterOf: MasterLookup): Map<string, string[]> {
  const groups = new Map<string, string[]>();
  for (const channel of channels) {
    const master = masterOf(channel);
    if (master !== undefined) groups.set(master, [...(groups.get(master) ?? []), channel]);
  }
  return groups;
}

/** Connects once: `listenToShards` opens another connection after a loss, because the master may have changed. */
function connectToMaster(cluster: Cluster, master: string): Redis {
  const colon = master.lastIndexOf(':');
  return new Redis({
    ...cluster.options.redisOptions,
    host: master.slice(0, colon),
    port: Number(master.slice(colon + 1)),
    enableOfflineQueue: true,
    autoResubscribe: false,
    retryStrategy: null,
  });
}
