import { databaseNow } from '../../shared/clock.ts';
import { statement } from '../queryable.ts';
import { repository, sql } from '../sql.ts';

/** A process is alive for this long after its last heartbeat: several heartbeat intervals. */
const leaseMs = 15_000;
/** Rows of a process are removed this long after its last heartbeat. If it comes back, it writes them again. */
const removeAfterMs = 60_000;

/** For `presence_nodes n`: whether the process is alive. */
const isAlive = `n.seen_at > ${databaseNow} - ${leaseMs}`;

/** For `agents a`: whether a live process has a stream or a waiting call of the agent. */
export const isOnline = `exists (select from presence p join presence_nodes n on n.id = p.node_id
   where p.agent_id = a.id and ${isAlive}) as is_online`;

const statements = {
  listOnline: statement(
    'presence.list_online',
    `select distinct p.agent_id from presence p join presence_nodes n on n.id = p.node_id
     where p.agent_id = any ($1) and ${isAlive}`,
  ),
};

/** Which process has streams or waiting calls of which agents. Statements that show an agent read it with `isOnline`. */
export const presenceRepository = repository(
  {
    /**
     * Writes a process with all of its agents; replaces its earlier rows. Locks the row of the process first, as the removal of dead
     * processes does.
     */
    insert: sql.run<[nodeId: string, agentIds: readonly string[]]>(
      'presence.insert(node_id, agent_ids)',
      `with node as (
         insert into presence_nodes (id, seen_at) values (:node_id, ${databaseNow})
         on conflict (id) do update set seen_at = excluded.seen_at returning id
       ), disconnected as (
         delete from presence p using node where p.node_id = node.id and p.agent_id <> all (:agent_ids::text[])
       )
       insert into presence (agent_id, node_id) select agent, node.id from node cross join unnest(:agent_ids::text[]) agent
       on conflict do nothing`,
    ),
    /** Writes a heartbeat and the agents that connected and disconnected since the last one. False when the process is unknown. */
    update: sql.hasRow<[nodeId: string, agents: { arrived: readonly string[]; left: readonly string[] }]>(
      'presence.update(node_id, ...)',
      `with node as (
         update presence_nodes set seen_at = ${databaseNow} where id = :node_id returning id
       ), disconnected as (
         delete from presence p using node where p.node_id = node.id and p.agent_id = any (:left::text[])
       ), connected as (
         insert into presence (agent_id, node_id) select agent, node.id from node cross join unnest(:arrived::text[]) agent
         on conflict do nothing
       )
       select id from node`,
    ),
    /** Removes a process and its agents. */
    remove: sql.run<[nodeId: string]>('presence.remove', `delete from presence_nodes where id = :node_id`),
    /** Removes up to `limit` dead processes; returns how many. */
    removeDead: sql.rowCount<[limit: number]>(
      'presence.remove_dead',
      `delete from presence_nodes where id in (
         select id from presence_nodes where seen_at < ${databaseNow} - ${removeAfterMs} limit :limit)
       returning 1`,
    ),
  },
  (db) => ({
    /** Those of these agents that have a stream or a waiting call in any live process. */
    async listOnline(agentIds: readonly string[]): Promise<Set<string>> {
      const rows = await db.query<{ agent_id: string }>(statements.listOnline, [agentIds]);
      return new Set(rows.map((row) => row.agent_id));
    },
  }),
);
