import type { Knex } from 'knex';

/**
 * How far the messages of a thread have come to a member, beside how far it has read. What is read is delivered too: the mark
 * that counts is the greater of the two, so that reading writes one of them only.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table thread_members add column delivered_sequence integer not null default 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table thread_members drop column delivered_sequence');
}
