import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is dropped. */
export const config = { transaction: false };

/** No statement uses it: those for unsent files use their ids, or `attachments_held`. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists attachments_unsent');
}

export async function down(knex: Knex): Promise<void> {
  // A killed run can have left it invalid.
  await knex.raw('drop index concurrently if exists attachments_unsent');
  await knex.raw(
    'create index concurrently attachments_unsent on attachments (created_at) where message_id is null',
  );
}
