import type { Knex } from 'knex';

/**
 * A name that a person chose, or the admins of an organization; null: the username or slug is shown. The previous release neither reads
 * nor writes it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table owners add column display_name text');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table owners drop column display_name');
}
