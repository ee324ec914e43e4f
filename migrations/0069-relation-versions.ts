import type { Knex } from 'knex';

/**
 * A version of each agent's relations, which decide who may write to whom. A process that remembers a thread compares the versions of its
 * members when it commits a message. Processes of the previous release do not raise them, so a process relies on its memory for some
 * seconds only.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table feed_heads add column relation_version integer not null default 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table feed_heads drop column relation_version');
}
