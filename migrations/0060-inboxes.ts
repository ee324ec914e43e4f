import type { Knex } from 'knex';

/**
 * Inboxes of agents, their items, and the names of their consumers. Items are copied from the feed when an instance of the agent asks for
 * work, so sending writes nothing here. In order of threads, items after a ready one of their thread are `queued`. `handled` items wait until the handled mark of their thread moves; `recorded` ones are after a message
 * that is not handled yet. The previous release ignores the tables. It does not know the handled mark, so it returns receipts without it.
 *
 * Items change often: rows have room for updates, and vacuum runs early.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table inboxes (
      agent_id text collate "C" primary key references agents,
      types text[] not null,
      lease_seconds integer not null,
      max_attempts integer not null,
      ordered_by_thread boolean not null,
      position bigint not null,
      last_fencing_token bigint not null default 0,
      created_at bigint not null,
      updated_at bigint not null
    );

    create table inbox_items (
      agent_id text collate "C" not null,
      number bigint not null,
      event_id text collate "C" not null,
      event_type text not null,
      thread_id text collate "C",
      sequence integer,
      sender_id text collate "C",
      state text not null check (state in ('queued', 'ready', 'leased', 'dead', 'handled', 'recorded')),
      attempts integer not null default 0,
      ready_at bigint not null,
      fencing_token bigint,
      expires_at bigint,
      consumer text,
      token_hash bytea,
      client_id text,
      grant_id text,
      reasons jsonb not null default '[]',
      updated_at bigint not null,
      primary key (agent_id, number),
      check ((state = 'leased') = (fencing_token is not null and expires_at is not null))
    ) with (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
    create index inbox_items_ready on inbox_items (agent_id, number) where state = 'ready';
    create index inbox_items_waiting on inbox_items (agent_id, thread_id, number) where state in ('queued', 'ready') and thread_id is not null;
    create index inbox_items_retried on inbox_items (agent_id, ready_at) where state = 'ready' and attempts > 0;
    create unique index inbox_items_leased on inbox_items (agent_id, fencing_token) where state = 'leased';
    create index inbox_items_leased_by_client on inbox_items (client_id) where state = 'leased';
    create index inbox_items_leased_by_grant on inbox_items (grant_id) where state = 'leased' and grant_id is not null;
    create index inbox_items_dead on inbox_items (agent_id, number) where state = 'dead';
    create index inbox_items_thread on inbox_items (agent_id, thread_id, number) where thread_id is not null;
    create index inbox_items_handled on inbox_items (agent_id, thread_id) where state = 'handled';

    create table inbox_consumers (
      agent_id text collate "C" not null,
      consumer text not null,
      last_claim_at bigint not null,
      primary key (agent_id, consumer)
    );
    create index inbox_consumers_last_claim_at on inbox_consumers (last_claim_at);

    alter table thread_members add column handled_sequence integer not null default 0;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table thread_members drop column handled_sequence;
    drop table inbox_consumers, inbox_items, inboxes;
  `);
}
