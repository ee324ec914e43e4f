import type { Knex } from 'knex';

/**
 * Which process has streams or waiting calls of which agent. A process updates `seen_at`, one row every few seconds, in place; the rows of
 * its agents are written when an agent connects or disconnects. They have no foreign key to agents: agents are never deleted, and the check
 * would lock the row of every agent that connects.
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
