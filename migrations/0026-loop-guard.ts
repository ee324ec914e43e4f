import type { Knex } from 'knex';

/**
 * The number of quick exchanges between two agents in a thread, in the period that began at `since`. Rows change with messages, under the
 * lock of their thread, so pages have free space. There are no foreign keys, whose checks would cost time for each message; threads and
 * agents are never deleted.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table threads add last_sender_id text collate "C";

    create table thread_exchanges (
      thread_id text collate "C" not null,
      one_id text collate "C" not null,
      other_id text collate "C" not null,
      exchanges integer not null,
      since bigint not null,
      primary key (thread_id, one_id, other_id)
    ) with (fillfactor = 70);
    create index thread_exchanges_since on thread_exchanges (since);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table thread_exchanges');
  await knex.raw('alter table threads drop last_sender_id');
}
