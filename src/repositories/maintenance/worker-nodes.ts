import { databaseNow } from '../../shared/clock.ts';
import { createTableCheck, type Queryable, statement } from '../queryable.ts';

/** A worker is alive for this long after its last heartbeat. */
const leaseMs = 20_000;
/** Its row is removed this long after its last heartbeat. */
const removeAfterMs = 60_000;

const statements = {
  upsert: statement(
    'worker_nodes.upsert',
    `insert into worker_nodes (id, roles, seen_at) values ($1, $2, ${databaseNow})
     on conflict (id) do update set seen_at = excluded.seen_at`,
  ),
  remove: statement('worker_nodes.remove', 'delete from worker_nodes where id = $1'),
  removeDead: statement(
    'worker_nodes.remove_dead',
    `delete from worker_nodes where seen_at < ${databaseNow} - ${removeAfterMs}`,
  ),
  list: statement(
    'worker_nodes.list',
    `select id, roles from worker_nodes where seen_at > ${databaseNow} - ${leaseMs} order by id`,
  ),
};

/** Live worker processes, by the clock of the database. */
export function workerNodesRepository(db: Queryable) {
  const tableExists = createTableCheck(db, 'worker_nodes');
  return {
    /** Writes a heartbeat. */
    async upsert(id: string, roles: readonly string[]): Promise<void> {
      if (await tableExists()) await db.query(statements.upsert, [id, roles]);
    },
    async remove(id: string): Promise<void> {
      if (await tableExists()) await db.query(statements.remove, [id]);
    },
    async removeDead(): Promise<void> {
      if (await tableExists()) await db.query(statements.removeDead, []);
    },
    /** Live workers; undefined before the migration that creates the table. */
    async list(): Promise<{ id: string; roles: string[] }[] | undefined> {
      if (!(await tableExists())) return undefined;
      return db.query<{ id: string; roles: string[] }>(statements.list, []);
    },
  };
}
