import type { Knex } from 'knex';

/**
 * What agents send to each other on each day (UTC). The row without a recipient counts each message of the sender once, whatever the number
 * of its recipients. Workers count when a message is delivered; sending writes nothing here, except when the loop guard refuses a message.
 * A worker of the previous release delivers without counting. Rows change often: pages have room for updates in place.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table usage_days (
      sender_id text collate "C" not null,
      recipient_id text collate "C" not null,
      -- The start of the day, in milliseconds.
      day bigint not null,
      messages integer not null default 0,
      bytes bigint not null default 0,
      stopped_loops integer not null default 0,
      primary key (sender_id, day, recipient_id)
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
    create index usage_days_recipient on usage_days (recipient_id, day) where recipient_id <> '';
    create index usage_days_day on usage_days (day);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table usage_days');
}
