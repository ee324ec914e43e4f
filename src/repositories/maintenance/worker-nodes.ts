import { repository, sql } from '../sql.ts';
import { databaseNow } from '../../shared/clock.ts';

/** A worker is alive for this long after its last heartbeat. */
const leaseMs = 20_000;
/** Its row is removed this long after its last heartbeat. */
const removeAfterMs = 60_000;

/** Live worker processes, by the clock of the database. */
export const workerNodesRepository = repository({
  /** Writes a heartbeat. */
  upsert: sql.run<[id: string, roles: readonly string[]]>(
    'worker_nodes.upsert(id, roles)',
    `insert into worker_nodes (id, roles, seen_at) values (:id, :roles, ${databaseNow})
     on conflict (id) do update set seen_at = excluded.seen_at`,
  ),
  remove: sql.run<[id: string]>('worker_nodes.remove', 'delete from worker_nodes where id = :id'),
  removeDead: sql.run<[]>(
    'worker_nodes.remove_dead',
    `delete from worker_nodes where seen_at < ${databaseNow} - ${removeAfterMs}`,
  ),
  list: sql.rows<[], { id: string; roles: string[] }>(
    'worker_nodes.list',
    `select id, roles from worker_nodes where seen_at > ${databaseNow} - ${leaseMs} order by id`,
  ),
});
