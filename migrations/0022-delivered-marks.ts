import type { Knex } from 'knex';

/**
 * The delivered mark of each member, beside its read mark. Read messages count as delivered: the delivered mark is the greater of the two, so
 * reading writes only one of them.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table thread_members add column delivered_sequence integer not null default 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table thread_members drop column delivered_sequence');
}
