import type { Knex } from 'knex';

/**
 * Feeds: one entry per event and recipient, numbered per agent. The counter row is the lock that makes numbers commit in order. It changes
 * with every event, so its pages have free space. An event about a message holds only the message's id: every message is stored once.
 * Feed and events have no foreign keys: they are logs that are removed by age.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table events (
      id text collate "C" primary key,
      type text not null,
      thread_id text collate "C",
      message_id text collate "C",
      data jsonb,
      recipients text[] not null,
      created_at bigint not null,
      check (message_id is not null or data is not null)
    );

    create table feed_heads (
      agent_id text collate "C" primary key references agents,
      last_number bigint not null default 0,
      acknowledged_number bigint
    ) with (fillfactor = 50);

    create table feed (
      agent_id text collate "C" not null,
      number bigint not null,
      event_id text collate "C" not null,
      primary key (agent_id, number)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table feed, feed_heads, events');
}
