import type { Knex } from 'knex';

/** Fails a transaction that relied on something that another one has changed, with an SQLSTATE of its own. The previous release does not call it. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function fail_concurrent_change() returns int language plpgsql volatile as $$
    begin
      raise exception 'changed by another transaction' using errcode = 'AM001';
    end $$
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function fail_concurrent_change()');
}
