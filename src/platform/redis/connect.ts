import { Cluster, type ClusterOptions, Redis, type RedisOptions } from 'ioredis';
import { type ErrorLog, describeError } from '../../shared/error-log.ts';
import { FailFastCluster } from './fail-fast-cluster.ts';
import { parseRedisAddress, type RedisCluster, type RedisSentinels } from './address.ts';

/** One server, the one that sentinels name, or a cluster. */
export type RedisClient = Redis | Cluster;

export interface RedisConnectionOptions extends RedisOptions {
  /** How often a command goes on to another node of a cluster, a tenth of a second apart while its slot has no master. */
  maxRedirections?: number;
}

const commandTimeoutMs = 2_000;

/** Commands fail fast: none waits for a connection, for a second try, or longer than two seconds. */
export const failFast: RedisConnectionOptions = {
  enableOfflineQueue: false,
  maxRetriesPerRequest: 0,
  commandTimeout: commandTimeoutMs,
  socketTimeout: 5_000,
  maxRedirections: 5,
};

/** Commands wait until Redis is back, as BullMQ wants it of its workers; in a cluster for ten seconds. */
export const waitForever: RedisConnectionOptions = { maxRetriesPerRequest: null, maxRedirections: 100 };

const reconnectDelay = (attempt: number): number => Math.min(50 * attempt, 1_000);

/**
 * A server that became a replica; or one that refuses the database asked for, where the client would go on in database 0, among the keys
 * of somebody else.
 */
function mustReconnect(error: Error & { command?: { name?: string } }): boolean {
  return error.message.startsWith('READONLY') || error.command?.name === 'select';
}

/**
 * A client that reconnects for ever, at most a second after Redis is back, and reports its errors to `log`.
 * @throws {TypeError} when the address is none (see redis-address.ts).
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

/** What the client still had to send when its connection ended: the reason was told before. */
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

/** The same where only a cluster will do. */
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
    // Names are left to whoever connects: certificates are checked by them, and their addresses may change.
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

/** Resolves when the client is connected; rejects with the reason after `limit_ms` milliseconds, or when it was closed. */
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

/** Ends the connection for good. Commands already sent to a server are answered first when it is there. */
export async function closeRedis(client: RedisClient): Promise<void> {
  // A cluster would first connect to nodes that nobody has asked yet.
  if (client.status === 'ready' && !client.isCluster)
    await client.quit().catch(() => 'the connection went first: closed is closed');
  client.disconnect();
}
