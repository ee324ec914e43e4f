import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is built. */
export const config = { transaction: false };

/**
 * The answer of a person to a contact request in the console, until it takes effect, as in migration 0094. The previous release shows the
 * request as pending, and an answer that it gives is the one that counts.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table contact_requests add column if not exists stored jsonb, add column if not exists effective_at bigint',
  );
  // That of a killed run is incomplete.
  await knex.raw('drop index concurrently if exists contact_requests_stored');
  await knex.raw(
    `create index concurrently contact_requests_stored on contact_requests (to_agent_id, effective_at)
     where status = 'pending' and stored is not null`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists contact_requests_stored');
  await knex.raw(
    'alter table contact_requests drop column if exists stored, drop column if exists effective_at',
  );
}
