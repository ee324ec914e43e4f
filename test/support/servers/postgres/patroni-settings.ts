import { join } from 'node:path';
import type { PatroniOptions } from './patroni.ts';

/** Those of docs/operations.md. Newer releases of Patroni accept no `ttl` below 20. */
const timing = { ttl: 20, loop_wait: 2, retry_timeout: 5, master_start_timeout: 0, primary_start_timeout: 0 };

interface NodePlace {
  name: string;
  host: string;
  postgres: number;
  rest: number;
  etcd: string;
  binaries: string;
  folder: string;
  options: PatroniOptions;
}

/** The settings file of Patroni on one server. JSON is valid YAML. */
export function nodeSettings({
  name,
  host,
  postgres,
  rest,
  etcd,
  binaries,
  folder,
  options,
}: NodePlace): object {
  const user = { username: 'ams', password: 'ams' };
  const waldir = options.hasSmallDisks ? [{ waldir: join(folder, 'disk/wal') }] : [];
  return {
    scope: 'ams',
    name,
    restapi: { listen: `${host}:${rest}`, connect_address: `${host}:${rest}` },
    etcd3: { hosts: etcd },
    bootstrap: {
      dcs: {
        ...timing,
        maximum_lag_on_failover: 16 * 1_024 * 1_024,
        synchronous_mode: options.isSynchronous,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: {
            max_connections: 200,
            shared_buffers: '32MB',
            // What a kill loses is lost with the memory of the machine only.
            fsync: 'off',
            synchronous_commit: 'on',
            wal_keep_size: '32MB',
            ...(options.hasSmallDisks && { wal_recycle: 'off', min_wal_size: '2MB', max_wal_size: '32MB' }),
          },
        },
      },
      initdb: [
        { encoding: 'UTF8' },
        { locale: 'C' },
        'no-sync',
        'data-checksums',
        ...waldir,
        ...(options.hasSmallDisks ? [{ 'wal-segsize': '1' }] : []),
      ],
    },
    postgresql: {
      listen: `${host}:${postgres}`,
      connect_address: `${host}:${postgres}`,
      data_dir: join(folder, 'data'),
      bin_dir: binaries,
      pgpass: join(folder, 'pgpass'),
      basebackup: [{ checkpoint: 'fast' }, ...waldir],
      authentication: { superuser: user, replication: { ...user, username: 'replicator' }, rewind: user },
      pg_hba: ['local all all trust', 'host all all 0.0.0.0/0 trust', 'host replication all 0.0.0.0/0 trust'],
      parameters: { unix_socket_directories: folder },
    },
  };
}
