import type { Knex } from 'knex';

/** Whether a worker has a remote thread. The time of the next attempt does not tell a lease from a pause, so a recall ended both. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `alter table remote_threads add column lease_state text check (lease_state in ('claimed', 'recalled'))`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_threads drop column lease_state');
}
