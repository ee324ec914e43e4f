import type { Knex } from 'knex';

/**
 * Which process holds readers of which agent. A process says that it lives by `seen_at` alone, one row every few seconds, changed
 * in place; the rows of its agents are written when an agent comes or goes. They have no foreign key to agents on purpose: agents
 * are retired, never deleted, and the check would lock the row of every agent that connects.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table presence_nodes (
      id text collate "C" primary key,
      seen_at bigint not null
    ) with (fillfactor = 50);

    create table presence (
      agent_id text collate "C" not null,
      node_id text collate "C" not null references presence_nodes on delete cascade,
      primary key (agent_id, node_id)
    );
    create index presence_node on presence (node_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table presence, presence_nodes');
}
