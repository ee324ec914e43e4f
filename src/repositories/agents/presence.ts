import { databaseNow, isAlive } from './online.ts';
import { type Queryable, statement } from '../queryable.ts';

/** After so long without a sign a process does not come back, in milliseconds; should it, it writes its rows anew. */
const removeAfterMs = 60_000;

const statements = {
  /** Its own row first: whoever removes a dead process takes that one first too. */
  insert: statement(
    'presence.insert',
    `with node as (
       insert into presence_nodes (id, seen_at) values ($1, ${databaseNow})
       on conflict (id) do update set seen_at = excluded.seen_at returning id
     ), gone as (
       delete from presence p using node where p.node_id = node.id and p.agent_id <> all ($2::text[])
     )
     insert into presence (agent_id, node_id) select agent, node.id from node cross join unnest($2::text[]) agent
     on conflict do nothing`,
  ),
  update: statement(
    'presence.update',
    `with node as (
       update presence_nodes set seen_at = ${databaseNow} where id = $1 returning id
     ), gone as (
       delete from presence p using node where p.node_id = node.id and p.agent_id = any ($3::text[])
     ), come as (
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
  online: statement(
    'presence.online',
    `select distinct p.agent_id from presence p join presence_nodes n on n.id = p.node_id
     where p.agent_id = any ($1) and ${isAlive}`,
  ),
};

/** Which process holds streams and waiting calls of which agents. Where an agent is shown, its own statement looks here. */
export function presenceRepository(db: Queryable) {
  return {
    /** A process and all of its agents, whatever was known of it before. */
    async insert(nodeId: string, agentIds: readonly string[]): Promise<void> {
      await db.query(statements.insert, [nodeId, agentIds]);
    },
    /** A sign of life, with the agents that came and went since the last one; false when the process is not known. */
    async update(
      nodeId: string,
      agents: { come: readonly string[]; gone: readonly string[] },
    ): Promise<boolean> {
      return (await db.query(statements.update, [nodeId, agents.come, agents.gone])).length > 0;
    },
    /** A process that stops, with its agents. */
    async remove(nodeId: string): Promise<void> {
      await db.query(statements.remove, [nodeId]);
    },
    /** Up to `limit` processes that died; answers how many. Nobody was shown as online because of them for long. */
    async removeDead(limit: number): Promise<number> {
      return (await db.query(statements.removeDead, [limit])).length;
    },
    /** Those among the agents that hold a stream or a waiting call just now, in any process. */
    async listOnline(agentIds: readonly string[]): Promise<Set<string>> {
      const rows = await db.query<{ agent_id: string }>(statements.online, [agentIds]);
      return new Set(rows.map((row) => row.agent_id));
    },
  };
}
