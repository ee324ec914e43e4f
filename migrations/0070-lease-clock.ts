import type { Knex } from 'knex';

/**
 * The clock of leases: the time of the database, in milliseconds. Leases of all processes begin and end by it, whatever the clocks of the
 * machines show. The previous release does not use it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function lease_clock() returns bigint language sql stable parallel safe
      as $$ select (extract(epoch from statement_timestamp()) * 1000)::bigint $$
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function lease_clock()');
}
