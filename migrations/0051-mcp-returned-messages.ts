import type { Knex } from 'knex';

/**
 * What a session was given out of order, after its position: replies, and events of filtered waits. The previous release ignores it and
 * returns them again.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table mcp_sessions add column returned_ids text[] not null default '{}'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table mcp_sessions drop column returned_ids');
}
