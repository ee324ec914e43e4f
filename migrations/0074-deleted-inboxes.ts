import type { Knex } from 'knex';

/**
 * The agents that turned their inbox off. The first claim of an agent turns its inbox on, but not after the agent turned it off. The
 * previous release ignores the table: an inbox that it turns off counts as one that never was.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table deleted_inboxes (
      agent_id text collate "C" primary key references agents,
      deleted_at bigint not null
    )
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table deleted_inboxes');
}
