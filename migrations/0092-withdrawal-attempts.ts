import type { Knex } from 'knex';

/** A withdrawal counts its own attempts, not those of the next message of its thread. The previous release does not read the column. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_withdrawals add column attempts int not null default 0');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_withdrawals drop column attempts');
}
