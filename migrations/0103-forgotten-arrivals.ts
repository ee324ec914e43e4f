import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is built. */
export const config = { transaction: false };

/** Arrivals whose messages are older than MESSAGE_RETENTION_DAYS are forgotten. */
export async function up(knex: Knex): Promise<void> {
  // An index that a killed run left is incomplete.
  await knex.raw('drop index concurrently if exists remote_updates_message');
  await knex.raw('create index concurrently remote_updates_message on remote_updates (message_id)');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists remote_updates_message');
}
