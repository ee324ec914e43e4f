import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is built. */
export const config = { transaction: false };

/**
 * The decision of a person in the console, until it takes effect. `stored` has the decision, or why it could not be carried out. The previous
 * release shows the approval as pending, and a decision that it makes is the one that counts.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    'alter table approvals add column if not exists stored jsonb, add column if not exists effective_at bigint',
  );
  // That of a killed run is incomplete.
  await knex.raw('drop index concurrently if exists approvals_effective');
  await knex.raw(
    `create index concurrently approvals_effective on approvals (effective_at) where state = 'pending' and effective_at is not null`,
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists approvals_effective');
  await knex.raw('alter table approvals drop column if exists stored, drop column if exists effective_at');
}
