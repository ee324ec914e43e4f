import type { Knex } from 'knex';

/**
 * A version of each agent's relations: what decides who may write to whom. A process that remembers the relations of a thread compares it
 * when it commits a message. Processes of the previous release do not raise it, so a process relies on what it read for some seconds only.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table feed_heads add column relation_version integer not null default 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table feed_heads drop column relation_version');
}
