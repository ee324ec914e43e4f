import type { Knex } from 'knex';

/**
 * `stream_number`: the newest notification stream of a session, which alone receives. `answering_until`: until when an answer may be on its
 * way that moves the position. The previous release ignores both.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table mcp_sessions add column stream_number integer not null default 0, add column answering_until bigint not null default 0',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table mcp_sessions drop column stream_number, drop column answering_until');
}
