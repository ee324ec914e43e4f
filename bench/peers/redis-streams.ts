import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { findFreePort } from '../../src/embedded/ports.ts';
import { findRedisServer } from '../../src/embedded/redis.ts';
import { readProcessCpuTime } from '../load/cpu-time.ts';
import { buildNumberedContent, readNumber } from '../load/tally.ts';
import { waitForStableMemory } from '../start/resident-memory.ts';
import { startRestartable } from '../start/restartable.ts';
import { createFolder } from '../start/service.ts';
import type { ClientParts, Connect, PeerKind } from './peer.ts';

const group = 'group';
const keyOf = (agent: number) => `agent:${agent}`;
const marker = Buffer.from('#');
const password = 'bench';

/**
 * Redis with an append-only file that is synced before each answer (`appendfsync always`). Each agent has a stream, and each receiver a
 * consumer group in which it acknowledges each message.
 */
export const redisStreams: PeerKind = {
  name: 'Redis Streams',
  findMissing: () => (findRedisServer() ? null : 'apt-get install redis-server'),
  async start(bench) {
    const folder = await createFolder(bench);
    const port = await findFreePort();
    const address = `redis://:${password}@127.0.0.1:${port}`;
    const settings = {
      port: String(port),
      bind: '127.0.0.1',
      dir: folder,
      requirepass: password,
      save: '',
      appendonly: 'yes',
      appendfsync: 'always',
      maxclients: '20000',
      'maxmemory-policy': 'noeviction',
    };
    const program = findRedisServer() ?? '';
    const values = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]);
    const launch = () => spawn(program, values, { detached: true, stdio: 'ignore' });
    const manage = async <T>(run: (redis: Redis) => Promise<T>) => {
      const redis = openConnection(address, () => undefined);
      return run(redis).finally(() => redis.disconnect());
    };
    const server = await startRestartable(bench, 'Redis', launch, () => manage((redis) => redis.ping()));
    return [
      {
        name: redisStreams.name,
        address,
        connect: redisStreams.openClient(address, bench),
        waitUntilIdle: () => Promise.resolve(),
        countStored: () =>
          manage(async (redis) => {
            const keys = await redis.keys('*');
            const counts = await Promise.all(keys.map((key) => redis.xlen(key)));
            return counts.reduce((total, count) => total + count, 0);
          }),
        readCpuMs: () => readProcessCpuTime(server.pid),
        readMemory: () => waitForStableMemory(server.pid, bench.signal, () => undefined),
        crash: {
          kill9: server.kill9,
          restart: server.restart,
          readAll: (receiver) =>
            manage(async (redis) => readNumbers(await redis.xrange(keyOf(receiver), '-', '+'))),
        },
      },
    ];
  },
  openClient: openRedisClient,
};

function openRedisClient(address: string, { fail }: ClientParts): Connect {
  return async (agent, role, onMessage) => {
    const redis = openConnection(address, fail);
    const key = role === 'member' ? group : keyOf(agent);
    // A blocked connection sends nothing else.
    const sending = role === 'member' ? openConnection(address, fail) : redis;
    if (role === 'sender') await redis.ping();
    else {
      const own = randomUUID();
      await redis.xgroup('CREATE', key, own, '$', 'MKSTREAM');
      receive(redis, key, own, onMessage).catch(fail);
    }
    const to = role === 'member' ? group : keyOf(agent + 1);
    return {
      async send(number) {
        await sending.xadd(to, '*', 'content', buildNumberedContent(number));
      },
      close() {
        for (const connection of new Set([redis, sending])) {
          connection.removeAllListeners('close');
          connection.disconnect();
        }
      },
    };
  };
}

function openConnection(address: string, fail: (reason: Error) => void): Redis {
  const redis = new Redis(address, {
    retryStrategy: null,
    maxRetriesPerRequest: null,
    enableReadyCheck: false,
  });
  redis.on('error', () => undefined); // `close` follows, and rejects what was sent
  redis.once('close', () => fail(new Error('Redis closed a connection')));
  return redis;
}

type Entries = [id: string, fields: string[]][];

/** Reads and acknowledges until the connection is closed. */
async function receive(redis: Redis, key: string, own: string, onMessage: (number: number) => void) {
  let acknowledging: Promise<number> | undefined;
  try {
    for (;;) {
      const reading = redis.xreadgroup('GROUP', own, own, 'COUNT', 100, 'BLOCK', 0, 'STREAMS', key, '>');
      const [answer] = await Promise.all([reading as Promise<[string, Entries][] | null>, acknowledging]);
      const entries = answer?.[0]?.[1] ?? [];
      for (const number of readNumbers(entries)) onMessage(number);
      acknowledging = entries.length > 0 ? redis.xack(key, own, ...entries.map(([id]) => id)) : undefined;
    }
  } catch (error) {
    // The listener of a closed connection has the reason.
    if (redis.status === 'ready') throw error;
  }
}

const readNumbers = (entries: Entries): number[] =>
  entries.map(([, [, content = '']]) => readNumber(Buffer.from(content), marker) ?? Number.NaN);
