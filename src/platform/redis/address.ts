export interface RedisHost {
  host: string;
  port: number;
}

interface RedisHosts {
  /** At least one; the client discovers the others. */
  hosts: RedisHost[];
  tls: boolean;
  username?: string;
  password?: string;
}

export interface RedisCluster extends RedisHosts {
  kind: 'cluster';
}

export interface RedisSentinels extends RedisHosts {
  kind: 'sentinel';
  /** The name of the master that the sentinels watch. */
  master: string;
  db: number;
  sentinel_username?: string;
  sentinel_password?: string;
}

/** The location of Redis: one server, a cluster, or the master of a group of sentinels. */
export type RedisAddress = { kind: 'server'; url: string } | RedisCluster | RedisSentinels;

const addressPattern =
  /^(?<scheme>rediss?)\+(?<kind>cluster|sentinel):\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]*)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/;

/**
 * Parses a URL: `redis://…` and `rediss://…`, `redis+cluster://user:password@host:port,host:port` and
 * `redis+sentinel://user:password@host:port,host:port/master/db?sentinel_password=…`; `rediss+…` uses TLS.
 * @throws {TypeError} with a message that fits after "REDIS_URL: " and shows no part of the URL, which may hold a password.
 */
export function parseRedisAddress(url: string): RedisAddress {
  if (URL.canParse(url) && /^rediss?:$/.test(new URL(url).protocol)) {
    assertServer(new URL(url));
    return { kind: 'server', url };
  }
  const parts = addressPattern.exec(url)?.groups;
  if (!parts) {
    throw new TypeError(
      'must be an address that starts with redis:// or rediss://, or list several hosts after redis+cluster://, rediss+cluster://, redis+sentinel:// or rediss+sentinel://',
    );
  }
  const sentinel = parts['kind'] === 'sentinel';
  const hosts = (parts['hosts'] ?? '').split(',').map((host) => parseHost(host, sentinel ? 26_379 : 6_379));
  const several = { hosts, tls: parts['scheme'] === 'rediss', ...parseUser(parts['user'] ?? '') };
  const query = new URLSearchParams(parts['query'] ?? '');
  return sentinel
    ? { kind: 'sentinel', ...several, ...parseMaster(parts['path'] ?? ''), ...parseSentinelUser(query) }
    : { kind: 'cluster', ...several, ...assertNothingElse(parts['path'] ?? '', query) };
}

/** The client would use database 0 for an invalid number, where other jobs may be. */
function assertServer({ hostname, username, password, pathname }: URL): void {
  if (hostname === '') throw new TypeError('must name a host, as in redis://host:6379');
  for (const text of [username, password]) decode(text);
  if (!/^\/?(?:\d{1,4})?$/.test(pathname))
    throw new TypeError('must end with the number of a database or nothing, as in redis://host:6379/0');
}

function parseHost(text: string, usualPort: number): RedisHost {
  const found = /^(?:\[(?<v6>[0-9a-fA-F:.]+)\]|(?<name>[\w.-]+))(?::(?<port>\d{1,5}))?$/.exec(
    text.trim(),
  )?.groups;
  const host = found?.['v6'] ?? found?.['name'];
  const port = Number(found?.['port'] ?? usualPort);
  if (host === undefined || port < 1 || port > 65_535)
    throw new TypeError('must name its hosts as host:port, with commas between them');
  return { host, port };
}

function parseUser(text: string): Pick<RedisHosts, 'username' | 'password'> {
  const colon = text.indexOf(':');
  const username = decode(colon < 0 ? text : text.slice(0, colon));
  const password = decode(colon < 0 ? '' : text.slice(colon + 1));
  return { ...(username && { username }), ...(password && { password }) };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new TypeError('must write a % in a name or password as %25');
  }
}

function parseMaster(path: string): Pick<RedisSentinels, 'master' | 'db'> {
  const [, master, db = '0'] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(path) ?? [];
  if (master === undefined)
    throw new TypeError(
      'must end with the name of the master that the sentinels watch, as in /mymaster or /mymaster/0',
    );
  return { master: decode(master), db: Number(db) };
}

function parseSentinelUser(
  query: URLSearchParams,
): Pick<RedisSentinels, 'sentinel_username' | 'sentinel_password'> {
  const { sentinel_username, sentinel_password, ...others } = Object.fromEntries(query);
  if (Object.keys(others).length > 0)
    throw new TypeError(
      'takes sentinel_username and sentinel_password after the question mark, and no other parameters',
    );
  return { ...(sentinel_username && { sentinel_username }), ...(sentinel_password && { sentinel_password }) };
}

function assertNothingElse(path: string, query: URLSearchParams): object {
  if (path !== '' || query.size > 0)
    throw new TypeError('must end after the hosts: a cluster has one database, without a number');
  return {};
}
