import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue. */
export const config = { transaction: false };

/** Every commit wrote to this index, and only the sweep read it. The previous release reads the table instead, which is small. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists outbox_due');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists outbox_due');
  await knex.raw('create index concurrently outbox_due on outbox (due_at)');
}
