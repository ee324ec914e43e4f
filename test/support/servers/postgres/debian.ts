import { execFile } from 'node:child_process';
import { access, chown, mkdtemp, readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { accountForPostgres, runAs } from '../../../../src/embedded/postgres/account.ts';
import { findFreePort } from '../../free-port.ts';
import { startGuarded } from '../guarded-process.ts';

const run = promisify(execFile);
const versions = '/usr/lib/postgresql';
const tools = ['initdb', 'postgres', 'pg_dump', 'pg_restore'];

/** The newest PostgreSQL of Debian's with all its tools, or undefined. The embedded one comes without pg_dump. */
export async function findDebianPostgres(): Promise<string | undefined> {
  const found = await readdir(versions).catch(() => []);
  for (const version of found.toSorted((a, b) => Number(b) - Number(a))) {
    const folder = join(versions, version, 'bin');
    const there = await Promise.allSettled(tools.map((tool) => access(join(folder, tool))));
    if (there.every(({ status }) => status === 'fulfilled')) return folder;
  }
  return undefined;
}

export interface DebianCluster {
  /** Of its database `ams`, which is empty. */
  url: string;
  stop(): Promise<void>;
}

/** An empty cluster of its own on a free loopback port, of which nothing stays. It ends with the test process, however that ends. */
export async function startDebianPostgres(binaries: string): Promise<DebianCluster> {
  const account = accountForPostgres();
  const folder = await mkdtemp(join(tmpdir(), 'ams-debian-'));
  if (account) await chown(folder, account.uid, account.gid);
  const data = join(folder, 'data');
  const as = { ...runAs(account), cwd: '/' };
  await run(
    join(binaries, 'initdb'),
    ['-D', data, '-U', 'ams', '--auth=trust', '--encoding=UTF8', '--locale=C', '--no-sync'],
    as,
  );
  const port = await findFreePort();
  const settings = {
    port: String(port),
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    fsync: 'off',
    synchronous_commit: 'off',
    shared_buffers: '32MB',
  };
  const values = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
  const command = [join(binaries, 'postgres'), '-D', data, ...values];
  const { stop } = startGuarded(command, { ...as, folder, endsBy: 'QUIT' });
  const address = `postgres://ams@127.0.0.1:${port}`;
  await createDatabase(`${address}/postgres`);
  return { url: `${address}/ams`, stop };
}

async function createDatabase(url: string): Promise<void> {
  const deadline = Date.now() + 60_000;
  for (;;) {
    const client = new pg.Client({ connectionString: url });
    try {
      await client.connect();
      await client.query('create database ams');
      return await client.end();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await pause(50);
    }
  }
}
