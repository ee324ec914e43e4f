import { databaseNow } from '../agents/presence.ts';
import { createTableCheck, type Queryable, statement } from '../queryable.ts';

/** Who has given no sign of life for so long is not counted on any more, in milliseconds; later its row goes. */
const leaseMs = 20_000;
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

/** Which worker processes live, by the clock of the database. */
export function workerNodesRepository(db: Queryable) {
  const isThere = createTableCheck(db, 'worker_nodes');
  return {
    /** A sign of life. */
    async upsert(id: string, roles: readonly string[]): Promise<void> {
      if (await isThere()) await db.query(statements.upsert, [id, roles]);
    },
    /** A process that stops. */
    async remove(id: string): Promise<void> {
      if (await isThere()) await db.query(statements.remove, [id]);
    },
    async removeDead(): Promise<void> {
      if (await isThere()) await db.query(statements.removeDead, []);
    },
    /** Those that live; undefined where nobody can tell, before the migration. */
    async list(): Promise<{ id: string; roles: string[] }[] | undefined> {
      if (!(await isThere())) return undefined;
      return db.query<{ id: string; roles: string[] }>(statements.list, []);
    },
  };
}
