import type { Knex } from 'knex';

/**
 * The worker processes that live, and their roles. Unlogged: after a crash of the server they say so anew. Workers of a release before
 * this one do not; those of this one work without the table.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create unlogged table worker_nodes (
      id text collate "C" primary key,
      roles text[] not null,
      seen_at bigint not null
    ) with (fillfactor = 50)
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table worker_nodes');
}
