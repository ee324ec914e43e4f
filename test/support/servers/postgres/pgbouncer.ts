import { access, chmod, chown, mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { vi } from 'vitest';
import { accountForPostgres, runAs } from '../../../../src/embedded/postgres/account.ts';
import { findFreePort } from '../../free-port.ts';
import { startGuarded } from '../guarded-process.ts';

const program = '/usr/sbin/pgbouncer';

/** Why there is no pgbouncer here, or undefined. */
export async function findMissingPgbouncer(): Promise<string | undefined> {
  return access(program).then(
    () => undefined,
    () => `${program} is not installed (apt-get install pgbouncer)`,
  );
}

export interface Pgbouncer {
  /** The address of the database through the pooler. */
  url: string;
  stop(): Promise<void>;
}

/** A pooler in front of a server: every transaction gets one of three connections. It runs as PostgreSQL's user when we are root. */
export async function startPgbouncer(target: string): Promise<Pgbouncer> {
  const { hostname, port: there, username, password, pathname } = new URL(target);
  const folder = await mkdtemp(join(tmpdir(), 'ams-pgbouncer-'));
  await chmod(folder, 0o755);
  const account = accountForPostgres();
  if (account) await chown(folder, account.uid, account.gid);
  const port = await findFreePort();
  const secret = decodeURIComponent(password);
  const [settings, users] = [join(folder, 'pgbouncer.ini'), join(folder, 'users.txt')];
  await writeFile(users, `"${username}" "${secret}"\n`);
  await writeFile(
    settings,
    `[databases]
* = host=${hostname} port=${there}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = plain
auth_file = ${users}
pool_mode = transaction
default_pool_size = 3
max_client_conn = 500
`,
  );
  const { stop } = startGuarded([program, settings], { ...runAs(account), cwd: '/', folder, endsBy: 'TERM' });
  const url = `postgres://${username}:${password}@127.0.0.1:${port}${pathname}`;
  await vi.waitFor(
    async () => {
      const client = new pg.Client({ connectionString: url });
      client.on('error', () => undefined);
      await client.connect();
      await client.end();
    },
    { timeout: 30_000, interval: 50 },
  );
  return { url, stop };
}
