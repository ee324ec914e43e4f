import type { Knex } from 'knex';

/** The last failed attempt of a webhook (ms). The previous release does not set it; then the time of failures starts at the next one. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table webhooks add column failed_at bigint');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table webhooks drop column failed_at');
}
