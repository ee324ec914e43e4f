import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is built. */
export const config = { transaction: false };

/** Each event reads the due push configs of its recipients: those of ended tasks are not among them. */
export async function up(knex: Knex): Promise<void> {
  // An index that a killed run left is incomplete.
  await knex.raw('drop index concurrently if exists a2a_push_configs_due');
  await knex.raw('create index concurrently a2a_push_configs_due on a2a_push_configs (client_id, next_at)');
  await knex.raw('drop index concurrently if exists a2a_push_configs_client');
  await knex.raw(`update a2a_push_configs c set next_at = null from tasks t
    where t.id = c.task_id and t.ended_at is not null and c.position = t.generation`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists a2a_push_configs_client');
  await knex.raw('create index concurrently a2a_push_configs_client on a2a_push_configs (client_id)');
  await knex.raw('drop index concurrently if exists a2a_push_configs_due');
}
