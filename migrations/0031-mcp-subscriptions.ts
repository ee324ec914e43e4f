import type { Knex } from 'knex';

/** Resources that a session wants to hear of: part of its row, so that every process knows them and a restart forgets none. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table mcp_sessions add column subscriptions text[] not null default '{}'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table mcp_sessions drop column subscriptions');
}
