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

/** For `agents a`: when it was last online (ms); now while it is. Null if it never was. */
export const lastSeenAt = `case when exists (select from presence p join presence_nodes n on n.id = p.node_id where p.agent_id = a.id and ${isAlive})
  then ${databaseNow} else (select seen_at from last_seen where agent_id = a.id) end`;

/** Notes when the agents of a query (agent_id, seen_at) were online. In one order, so that two processes never deadlock. */
const noteSeen = (agents: string): string =>
  `insert into last_seen as l (agent_id, seen_at) select agent_id, max(seen_at) from ${agents} group by agent_id order by agent_id
   on conflict (agent_id) do update set seen_at = greatest(l.seen_at, excluded.seen_at)`;

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
         returning p.agent_id, ${databaseNow} as seen_at
       ), seen as (
         ${noteSeen('disconnected')}
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
         returning p.agent_id, ${databaseNow} as seen_at
       ), seen as (
         ${noteSeen('disconnected')}
       ), connected as (
         insert into presence (agent_id, node_id) select agent, node.id from node cross join unnest(:arrived::text[]) agent
         on conflict do nothing
       )
       select id from node`,
    ),
    /** Removes a process and its agents. */
    remove: sql.run<[nodeId: string]>(
      'presence.remove',
      `with disconnected as (
         select p.agent_id, ${databaseNow} as seen_at from presence p where p.node_id = :node_id
       ), seen as (
         ${noteSeen('disconnected')}
       )
       delete from presence_nodes where id = :node_id`,
    ),
    /** Removes up to `limit` dead processes; returns how many. */
    removeDead: sql.rowCount<[limit: number]>(
      'presence.remove_dead',
      `with dead as materialized (
         select id, seen_at from presence_nodes where seen_at < ${databaseNow} - ${removeAfterMs} limit :limit
       ), disconnected as (
         select p.agent_id, d.seen_at from dead d join presence p on p.node_id = d.id
       ), seen as (
         ${noteSeen('disconnected')}
       )
       delete from presence_nodes where id in (select id from dead) returning 1`,
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
