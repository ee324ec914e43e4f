import { databaseNow } from '../../shared/clock.ts';
import { type Queryable, statement } from '../queryable.ts';

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
  /** Locks the row of the process first, as the removal of dead processes does. */
  insert: statement(
    'presence.insert',
    `with node as (
       insert into presence_nodes (id, seen_at) values ($1, ${databaseNow})
       on conflict (id) do update set seen_at = excluded.seen_at returning id
     ), disconnected as (
       delete from presence p using node where p.node_id = node.id and p.agent_id <> all ($2::text[])
     )
     insert into presence (agent_id, node_id) select agent, node.id from node cross join unnest($2::text[]) agent
     on conflict do nothing`,
  ),
  update: statement(
    'presence.update',
    `with node as (
       update presence_nodes set seen_at = ${databaseNow} where id = $1 returning id
     ), disconnected as (
       delete from presence p using node where p.node_id = node.id and p.agent_id = any ($3::text[])
     ), connected as (
       insert into presence (agent_id, node_id) select agent, node.id from node cross join unnest($2::text[]) agent
       on conflict do nothing
     )
     select id from node`,
  ),
  remove: statement('presence.remove', `delete from presence_nodes where id = $1`),
  removeDead: statement(
    'presence.remove_dead',
    `delete from presence_nodes where id in (
       select id from presence_nodes where seen_at < ${databaseNow} - ${removeAfterMs} limit $1)
     returning 1`,
  ),
  listOnline: statement(
    'presence.list_online',
    `select distinct p.agent_id from presence p join presence_nodes n on n.id = p.node_id
     where p.agent_id = any ($1) and ${isAlive}`,
  ),
};

/** Which process has streams or waiting calls of which agents. Statements that show an agent read it with `isOnline`. */
export function presenceRepository(db: Queryable) {
  return {
    /** Writes a process with all of its agents; replaces its earlier rows. */
    async insert(nodeId: string, agentIds: readonly string[]): Promise<void> {
      await db.query(statements.insert, [nodeId, agentIds]);
    },
    /** Writes a heartbeat and the agents that connected and disconnected since the last one. False when the process is unknown. */
    async update(
      nodeId: string,
      agents: { arrived: readonly string[]; left: readonly string[] },
    ): Promise<boolean> {
      return (await db.query(statements.update, [nodeId, agents.arrived, agents.left])).length > 0;
    },
    /** Removes a process and its agents. */
    async remove(nodeId: string): Promise<void> {
      await db.query(statements.remove, [nodeId]);
    },
    /** Removes up to `limit` dead processes; returns how many. */
    async removeDead(limit: number): Promise<number> {
      return (await db.query(statements.removeDead, [limit])).length;
    },
    /** Those of these agents that have a stream or a waiting call in any live process. */
    async listOnline(agentIds: readonly string[]): Promise<Set<string>> {
      const rows = await db.query<{ agent_id: string }>(statements.listOnline, [agentIds]);
      return new Set(rows.map((row) => row.agent_id));
    },
  };
}
