import type { Knex } from 'knex';

/**
 * The feed positions of a session: after what its waiting calls returned, and where its notification stream begins. The previous release
 * ignores them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table mcp_sessions add column wait_cursor text, add column stream_cursor text');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table mcp_sessions drop column wait_cursor, drop column stream_cursor');
}
