import type { Knex } from 'knex';

const hashOf = (recipients: string): string =>
  `sha256(convert_to(array_to_string(${recipients}, ','), 'UTF8'))`;

/**
 * Usage has one row for each sender, day and set of recipients, instead of one for each pair of agents and one for the sum. A message to 200
 * members then updates one row, not 201. The sum of a sender is the sum of its rows. For days before this migration, a row without recipients
 * corrects it: a message to several agents is in a row for each of them. The previous release does not use the table.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    lock table usage_days in access exclusive mode;
    create temporary table pairs on commit drop as select * from usage_days;
    drop table usage_days;
    create table usage_days (
      sender_id text collate "C" not null,
      -- The start of the day, in milliseconds.
      day bigint not null,
      -- SHA-256 of the ids in their order, with commas. A random value once a recipient was erased.
      recipients_hash bytea not null,
      recipients text[] collate "C" not null,
      messages integer not null default 0,
      bytes bigint not null default 0,
      stopped_loops integer not null default 0,
      primary key (sender_id, day, recipients_hash)
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
    insert into usage_days
    select sender_id, day, ${hashOf('array[recipient_id]')}, array[recipient_id], messages, bytes, stopped_loops
    from pairs where recipient_id <> ''
    union all
    select sender_id, day, ${hashOf(`'{}'::text[]`)}, '{}', sum(messages * sign), sum(bytes * sign), 0
    from (select *, case recipient_id when '' then 1 else -1 end as sign from pairs) p
    group by sender_id, day having sum(messages * sign) <> 0 or sum(bytes * sign) <> 0;
    create index usage_days_recipients on usage_days using gin (recipients) with (fastupdate = off);
    create index usage_days_day on usage_days (day);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    lock table usage_days in access exclusive mode;
    create temporary table sets on commit drop as select * from usage_days;
    drop table usage_days;
    create table usage_days (
      sender_id text collate "C" not null,
      recipient_id text collate "C" not null,
      -- The start of the day, in milliseconds.
      day bigint not null,
      messages integer not null default 0,
      bytes bigint not null default 0,
      stopped_loops integer not null default 0,
      primary key (sender_id, day, recipient_id)
    ) with (fillfactor = 45, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
    insert into usage_days
    select sender_id, recipient_id, day, sum(messages), sum(bytes), sum(stopped_loops)
    from sets cross join unnest(recipients) recipient_id group by sender_id, recipient_id, day
    union all
    select sender_id, '', day, sum(messages), sum(bytes), 0 from sets group by sender_id, day having sum(messages) > 0;
    create index usage_days_recipient on usage_days (recipient_id, day) where recipient_id <> '';
    create index usage_days_day on usage_days (day);
  `);
}
