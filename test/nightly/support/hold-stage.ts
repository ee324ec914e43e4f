import { connectTo } from '../../support/servers/postgres/database.ts';
import { expect } from 'vitest';
import type { ServiceCluster } from '../../support/cluster/cluster.ts';

/** Other files may hold their own locks, in databases of the same server. */
const waiters = `pg_locks where locktype = 'advisory' and objid = 4711 and not granted
  and database = (select oid from pg_database where datname = current_database())`;

/**
 * Blocks transactions that move a row of this table out of `stage` right before the commit, as a slow step would.
 * @returns see holdWrites
 */
export const holdAtStage = (cluster: ServiceCluster, table: string, stage: string) =>
  holdWrites(cluster, table, { on: 'update', when: `old.stage = '${stage}' and new.stage <> '${stage}'` });

/**
 * Blocks transactions that write a row of this table.
 * @param when a condition of SQL for the rows `old` and `new`.
 * @returns `reached` waits until a transaction is blocked; `release` ends the hold, and the blocked sessions with it.
 */
export async function holdWrites(
  { env }: Pick<ServiceCluster, 'env'>,
  table: string,
  { on, when }: { on: 'insert' | 'update'; when: string },
) {
  const client = await connectTo(env['DATABASE_URL']);
  await client.query('select pg_advisory_lock(4711)');
  await client.query(`
    create or replace function hold_${table}() returns trigger language plpgsql as $$
    begin perform pg_advisory_xact_lock_shared(4711); return new; end $$;
    create or replace trigger hold_${table} before ${on} on ${table} for each row
      when (${when}) execute function hold_${table}()`);
  return {
    async reached(): Promise<void> {
      const waiting = async () => (await client.query(`select pid from ${waiters}`)).rowCount;
      await expect.poll(waiting).toBeGreaterThan(0);
    },
    async release(): Promise<void> {
      await client.query(`select pg_terminate_backend(pid) from ${waiters}`);
      await client.end();
    },
  };
}
