import { Redis } from 'ioredis';
import { expect, vi } from 'vitest';
import { startTestRedis, type TestRedis } from './redis-server.ts';

export interface TestSentinels {
  /** With the passwords of the servers and of the sentinels, and all three of these. */
  url: string;
  /** The server that the sentinels call the master. */
  master(): Promise<TestRedis>;
  stop(): Promise<void>;
}

const [password, sentinelPassword] = ['of the servers', 'of the sentinels'];
const patience = { timeout: 60_000, interval: 50 };

/** A real master with a replica, and three sentinels of which two must agree that it is gone; all behind passwords. */
export async function startTestSentinels(): Promise<TestSentinels> {
  const auth = { requirepass: password, masterauth: password };
  const master = await startTestRedis({ settings: auth });
  const replica = await startTestRedis({ settings: { ...auth, replicaof: `127.0.0.1 ${master.port}` } });
  const servers = [master, replica];
  const watched = [
    `sentinel monitor main 127.0.0.1 ${master.port} 2`,
    `sentinel auth-pass main "${password}"`,
    'sentinel down-after-milliseconds main 2000',
    'sentinel failover-timeout main 10000',
    `requirepass "${sentinelPassword}"`,
    `sentinel sentinel-pass "${sentinelPassword}"`,
  ];
  const sentinels = await Promise.all(Array.from({ length: 3 }, () => startTestRedis({ sentinel: watched })));
  const clients = sentinels.map(
    ({ port }) => new Redis({ host: '127.0.0.1', port, password: sentinelPassword }),
  );
  const [asked] = clients;
  if (!asked) throw new Error('there is a first sentinel');
  // They find each other, and the replica, by way of the master.
  await vi.waitFor(async () => {
    for (const client of clients) {
      const about = await client.call('SENTINEL', 'MASTER', 'main');
      expect(pairs(about)).toMatchObject({ flags: 'master', 'num-slaves': '1', 'num-other-sentinels': '2' });
    }
  }, patience);

  const hosts = sentinels.map(({ port }) => `127.0.0.1:${port}`).join(',');
  const query = new URLSearchParams({ sentinel_password: sentinelPassword });
  return {
    url: `redis+sentinel://:${encodeURIComponent(password)}@${hosts}/main/0?${query.toString()}`,
    async master() {
      const answer = await asked.call('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', 'main');
      const port = Number(Array.isArray(answer) && answer[1]);
      const server = servers.find((each) => each.port === port);
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
