import type { Knex } from 'knex';

/**
 * Pages of a list whose order changes while it is read. The `xmin` of a row has 32 bits and snapshots have 64: it is taken for the latest
 * transaction id at or before the next one that ends in these bits.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create function was_seen(row_xmin xid, snapshot pg_snapshot) returns boolean
    language sql stable parallel safe
    return (
      select pg_visible_in_snapshot((t - ((t - row_xmin::text::bigint) & 4294967295))::text::xid8, snapshot)
      from (select pg_snapshot_xmax(pg_current_snapshot())::text::bigint) newest (t)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop function was_seen');
}
