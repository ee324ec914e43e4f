import type { Knex } from 'knex';

/** Not in a transaction: writes to the table continue while the index is built. */
export const config = { transaction: false };

/** Removing an agent looks for the agents of other systems that are bound to it. The previous release needs no change. */
export async function up(knex: Knex): Promise<void> {
  // That of a killed run is incomplete.
  await knex.raw('drop index concurrently if exists remote_agents_bound');
  await knex.raw(
    'create index concurrently remote_agents_bound on remote_agents (bound_id) where bound_id is not null',
  );
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index concurrently if exists remote_agents_bound');
}
