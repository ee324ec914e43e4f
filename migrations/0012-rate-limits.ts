import type { Knex } from 'knex';

/**
 * How much of its limits each caller has used, where there is no Redis. Not written to the log: a crash of the server gives
 * everybody a new period, which is harmless. The columns, and their order, are those of rate-limiter-flexible; `expire` is the
 * end of the period in ms. Rows are written often and changed in place: hence the room in each page.
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
