import type { Knex } from 'knex';

/**
 * The events of one commit can share an outbox row. Workers of the previous release handle all ids of a queued job and remove its rows; their
 * sweep enqueues only the first id of a row.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table outbox add column more_ids text[]');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table outbox drop column more_ids');
}
