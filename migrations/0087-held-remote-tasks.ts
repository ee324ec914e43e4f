import type { Knex } from 'knex';

/** The message for which an item of a remote task waits: its arrival has the task read at once. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_tasks add column held_after text');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_tasks drop column held_after');
}
