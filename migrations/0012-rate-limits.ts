import type { Knex } from 'knex';

/**
 * The state of the rate limits of each caller, for a service without Redis. Unlogged: a crash of the server starts a new period for all,
 * which is harmless. The columns and their order are those of rate-limiter-flexible; `expire` is the end of the period in ms. Rows are
 * updated often and in place, so pages have free space.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create unlogged table rate_limits (
      key text collate "C" primary key,
      points integer not null,
      expire bigint
    ) with (fillfactor = 70);
    create index rate_limits_expire on rate_limits (expire);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table rate_limits');
}
