import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { startTestRedis, type TestRedis } from './server.ts';

export interface TestSentinels {
  /** With the passwords of the servers and of the sentinels, and all three of these. */
  url: string;
  /** The same where everything speaks TLS; undefined unless that was asked for. */
  tls_url: string | undefined;
  /** The server that the sentinels call the master. */
  master(): Promise<TestRedis>;
  stop(): Promise<void>;
}

const [password, sentinelPassword] = ['of the servers', 'of the sentinels'];
const waitOptions = { timeout: 60_000, interval: 50 };

/**
 * A real master with a replica, and three sentinels of which two must agree that it is gone; all behind passwords. With `tls` they
 * speak that among themselves too, and tell callers of those ports.
 */
export async function startTestSentinels({ tls = false } = {}): Promise<TestSentinels> {
  const secured = tls ? { 'tls-replication': 'yes' } : {};
  const portOf = (server: TestRedis) => (tls ? server.tls_port : server.port);
  const auth = { requirepass: password, masterauth: password, ...secured };
  const master = await startTestRedis({ settings: auth, tls });
  const replicaof = `127.0.0.1 ${portOf(master)}`;
  const replica = await startTestRedis({ settings: { ...auth, replicaof }, tls });
  const servers = [master, replica];
  const watched = [
    `sentinel monitor main 127.0.0.1 ${portOf(master)} 2`,
    `sentinel auth-pass main "${password}"`,
    'sentinel down-after-milliseconds main 2000',
    'sentinel failover-timeout main 10000',
    `requirepass "${sentinelPassword}"`,
    `sentinel sentinel-pass "${sentinelPassword}"`,
  ];
  const sentinels = await Promise.all(
    Array.from({ length: 3 }, () => startTestRedis({ sentinel: watched, settings: secured, tls })),
  );
  const clients = sentinels.map(
    ({ port }) => new Redis({ host: '127.0.0.1', port, password: sentinelPassword }),
  );
  const [asked] = clients;
  if (!asked) throw new Error('there is a first sentinel');
  // They find each other and the replica through the master.
  await vi.waitFor(async () => {
    for (const client of clients) {
      const about = await client.call('SENTINEL', 'MASTER', 'main');
      expect(pairs(about)).toMatchObject({ flags: 'master', 'num-slaves': '1', 'num-other-sentinels': '2' });
    }
  }, waitOptions);

  const query = new URLSearchParams({ sentinel_password: sentinelPassword });
  function addressOf(scheme: string, ports: readonly number[]): string {
    const hosts = ports.map((port) => `127.0.0.1:${port}`).join(',');
    return `${scheme}+sentinel://:${encodeURIComponent(password)}@${hosts}/main/0?${query.toString()}`;
  }
  const ports = sentinels.map(({ port }) => port);
  const tls_ports = sentinels.map(({ tls_port }) => tls_port);
  return {
    url: addressOf('redis', ports),
    tls_url: tls ? addressOf('rediss', tls_ports) : undefined,
    async master() {
      const answer = await asked.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main');
      const port = Number(Array.isArray(answer) && answer[1]);
      const server = servers.find((each) => portOf(each) === port);
      if (!server) throw new Error(`no server at ${port}`);
      return server;
    },
    async stop() {
      for (const client of clients) client.disconnect();
      await Promise.all([...sentinels, ...servers].map((server) => server.stop()));
    },
  };
}

/** A list of names and values in turn. */
function pairs(answer: unknown): Record<string, string> {
  const list = Array.isArray(answer) ? answer.map(String) : [];
  return Object.fromEntries(list.flatMap((name, at) => (at % 2 ? [] : [[name, list[at + 1] ?? '']])));
}
