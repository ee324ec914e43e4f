import type { Knex } from 'knex';

/** Data of the creator of a thread. A constant default does not rewrite the table. The previous release neither reads nor writes it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table threads add column metadata jsonb not null default '{}'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table threads drop column metadata');
}
