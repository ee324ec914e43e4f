import type { Knex } from 'knex';

/** The resource subscriptions of a session, in its row: every process has them, and they survive a restart. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table mcp_sessions add column subscriptions text[] not null default '{}'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table mcp_sessions drop column subscriptions');
}
