import type { Knex } from 'knex';

/** Since when every attempt of a webhook has failed (ms); null after a delivered one. The previous release does not set it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table webhooks add column failing_since bigint');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table webhooks drop column failing_since');
}
