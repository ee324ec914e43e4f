import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is built. */
export const config = { transaction: false };

/**
 * A withdrawal counts its own attempts, not those of the next message of its thread. Watch links that expire are found by their time. The
 * previous release uses neither.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table remote_withdrawals add column if not exists attempts int not null default 0');
  // That of a killed run is incomplete.
  await knex.raw('drop index concurrently if exists watch_links_expiry');
  await knex.raw(
    'create index concurrently watch_links_expiry on watch_links (expires_at) where ended_at is null',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists watch_links_expiry');
  await knex.raw('alter table remote_withdrawals drop column if exists attempts');
}
