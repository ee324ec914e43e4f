import { statSync } from 'node:fs';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { expect, onTestFinished, test } from 'vitest';
import { readIfExists } from '../../../src/embedded/private-file.ts';
import { inspectProcess } from '../../../src/embedded/processes/identity.ts';
import { type RedisOptions, startRedis } from '../../../src/embedded/redis.ts';
import { isRedisReady } from '../../../src/embedded/redis-ping.ts';
import { findRedisBinary } from '../../support/servers/redis/binary.ts';
import { describeWithRedis } from '../../support/servers/redis/server.ts';
import { isGone, createTemporaryFolder } from './setup.ts';

async function start(options: RedisOptions) {
  const binary = await findRedisBinary();
  if ('missing' in binary) throw new Error(binary.missing);
  const server = await startRedis({ serverPath: binary.path, env: binary.env, ...options });
  if (server === null) throw new Error('startRedis found no server at the path it was given');
  onTestFinished(() => server.stop());
  return server;
}

const pidIn = (dataDir: string) =>
  Number(/"pid":(\d+)/.exec(readIfExists(join(dataDir, 'run', 'redis.json')) ?? '')?.[1]);

async function ask(url: string, ...command: [string, ...string[]]): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true });
  await client.connect();
  try {
    return await client.call(...command);
  } finally {
    client.disconnect();
  }
}

test('without a server on this machine, no Redis is started', async () => {
  const path = process.env['PATH'];
  process.env['PATH'] = '/nowhere';
  try {
    expect(await startRedis({ dataDir: createTemporaryFolder() })).toBeNull();
  } finally {
    process.env['PATH'] = path;
  }
});

await describeWithRedis('a private Redis', () => {
  test('never evicts, appends to a file, and keeps its password secret', async () => {
    const dataDir = createTemporaryFolder();
    const server = await start({ dataDir });
    expect(await ask(server.url, 'CONFIG', 'GET', 'maxmemory-policy')).toContain('noeviction');
    expect(await isRedisReady(server.port, 'guessed')).toBe(false);
    const password = new URL(server.url).password;
    expect(inspectProcess(pidIn(dataDir))?.command).not.toContain(password);
    expect(statSync(join(dataDir, 'redis', 'redis.conf')).mode & 0o777).toBe(0o600);

    await ask(server.url, 'SET', 'kept', 'yes');
    await server.stop();
    const again = await start({ dataDir });
    expect(again.url).toBe(server.url);
    expect(await ask(again.url, 'GET', 'kept')).toBe('yes');
  });

  test('an orphan is stopped first', async () => {
    const dataDir = createTemporaryFolder();
    await start({ dataDir });
    const pid = pidIn(dataDir);
    await start({ dataDir });
    expect(isGone(pid)).toBe(true);
  });

  test('after a crash the next start has what was written', async () => {
    const dataDir = createTemporaryFolder();
    const server = await start({ dataDir });
    await ask(server.url, 'SET', 'kept', 'yes');
    process.kill(pidIn(dataDir), 'SIGKILL');
    expect(await server.ended).toBe('SIGKILL');
    expect(await ask((await start({ dataDir })).url, 'GET', 'kept')).toBe('yes');
  });
});
