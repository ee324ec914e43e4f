import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { type ErrorLog, describeError } from '../../shared/error-log.ts';
import { FailFastCluster } from './fail-fast-cluster.ts';
import { parseRedisAddress, type RedisCluster, type RedisSentinels } from './address.ts';

/** One server, the master of sentinels, or a cluster. */
export type RedisClient = Redis | Cluster;

export interface RedisConnectionOptions extends RedisOptions {
  /** How often a command is sent to another node of a cluster, every 100 ms while its slot has no master. */
  maxRedirections?: number;
}

const commandTimeoutMs = 2_000;

/** Commands fail fast: they do not wait for a connection, are not repeated, and take at most two seconds. */
export const failFast: RedisConnectionOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: commandTimeoutMs,
  socketTimeout: 5_000,
  maxRedirections: 5,
};

/** Commands wait until Redis is available, as BullMQ requires for its workers; in a cluster for ten seconds. */
export const waitForever: RedisConnectionOptions = { maxRetriesPerRequest: null, maxRedirections: 100 };

const reconnectDelay = (attempt: number): number => Math.min(50 * attempt, 1_000);

/**
 * A server that became a replica, or that refuses the database: the client would continue in database 0, with the keys of another service.
 */
function mustReconnect(error: Error & { command?: { name?: string } }): boolean {
  return error.message.startsWith('READONLY') || error.command?.name === 'select';
}

/**
 * A client that reconnects without limit, at most a second after Redis is available, and logs its errors.
 * @throws {TypeError} when the URL is invalid (see address.ts).
 */
export function connectRedis(url: string, log: ErrorLog, manner: RedisConnectionOptions): RedisClient {
  const address = parseRedisAddress(url);
  if (address.kind === 'cluster') return createCluster(address, log, manner);
  const { maxRedirections: _, ...options } = manner;
  const settings: RedisOptions = {
    retryStrategy: reconnectDelay,
    reconnectOnError: mustReconnect,
    connectTimeout: 5_000,
    keepAlive: 10_000,
    ...options,
  };
  const client =
    address.kind === 'server'
      ? new Redis(address.url, settings)
      : new Redis({ ...settings, ...toSentinelOptions(address, settings) });
  client.on('error', (error) => {
    if (!isFollowUpError(error)) log('Redis connection failed', error);
  });
  client.on('reconnecting', () =>
    log('Redis connection lost', new Error('the connection ended: reconnecting')),
  );
  return client;
}

/** A write that failed because the connection ended; the reason is logged already. */
function isFollowUpError(error: unknown): boolean {
  return describeError(error).startsWith("Stream isn't writeable");
}

function toSentinelOptions(address: RedisSentinels, { retryStrategy }: RedisOptions): RedisOptions {
  const { hosts, master, db, tls, username, password, sentinel_username, sentinel_password } = address;
  return {
    sentinels: hosts,
    name: master,
    role: 'master',
    db,
    ...(username !== undefined && { username }),
    ...(password !== undefined && { password }),
    ...(sentinel_username !== undefined && { sentinelUsername: sentinel_username }),
    ...(sentinel_password !== undefined && { sentinelPassword: sentinel_password }),
    ...(tls && { tls: {}, sentinelTLS: {}, enableTLSForSentinelMode: true }),
    sentinelCommandTimeout: 2_000,
    ...(retryStrategy && { sentinelRetryStrategy: retryStrategy }),
  };
}

/** Like `connectRedis`, for a cluster only. */
export function connectCluster(url: string, log: ErrorLog, manner: RedisConnectionOptions): Cluster {
  const address = parseRedisAddress(url);
  if (address.kind !== 'cluster') throw new TypeError('this is not the address of a cluster');
  return createCluster(address, log, manner);
}

function createCluster(address: RedisCluster, log: ErrorLog, manner: RedisConnectionOptions): Cluster {
  const { hosts, tls, username, password } = address;
  const {
    maxRedirections = 16,
    enableOfflineQueue = true,
    lazyConnect = false,
    retryStrategy,
    ...options
  } = manner;
  const settings: ClusterOptions = {
    lazyConnect,
    maxRedirections,
    clusterRetryStrategy: retryStrategy ?? reconnectDelay,
    slotsRefreshInterval: 5_000,
    // Host names are kept: certificates are checked against them, and their addresses can change.
    dnsLookup: (host, callback) => callback(null, host),
    redisOptions: {
      connectTimeout: 5_000,
      keepAlive: 10_000,
      ...options,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      ...(tls && { tls: {} }),
    },
  };
  const cluster = enableOfflineQueue
    ? new Cluster(hosts, settings)
    : new FailFastCluster(hosts, settings, options.commandTimeout ?? commandTimeoutMs);
  cluster.on('error', (error) => log('Redis connection failed', error));
  cluster.on('node error', (error, node) => log(`Redis node ${node} failed`, error));
  return cluster;
}

/** Resolves when the client is connected; rejects with the reason after `limit_ms`, or when it was closed. */
export async function waitUntilReady(client: RedisClient, limit_ms: number): Promise<void> {
  if (client.status === 'ready') return;
  await new Promise<void>((resolve, reject) => {
    let reason = 'no answer';
    const noteError = (error: unknown): void => {
      if (!isFollowUpError(error)) reason = describeError(error);
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

/** Closes the connection for good, after the responses to commands already sent. */
export async function closeRedis(client: RedisClient): Promise<void> {
  // `quit` of a cluster would first connect to unused nodes.
  if (client.status === 'ready' && !client.isCluster) await client.quit().catch(() => 'already closed');
  client.disconnect();
}
