import type { Knex } from 'knex';

/**
 * Live worker processes and their roles. Unlogged: after a crash of the server they write their rows again. Workers of the previous release
 * do not write rows; those of this release work without the table.
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
