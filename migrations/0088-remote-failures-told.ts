import type { Knex } from 'knex';

/** Whether agents were told that deliveries to a remote agent fail: they are told only of failures that last. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_agents add column failing_told boolean not null default false');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_agents drop column failing_told');
}
