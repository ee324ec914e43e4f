import type { Knex } from 'knex';

/**
 * Notifications of people: their settings, the channels that reach them, the items of which they were notified, and the messages that are
 * still to be sent. A person without settings gets none. The previous release ignores the tables; it leaves the jobs of this release in the
 * outbox, and the sweep of this release enqueues them again.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table notification_settings (
      account_id text collate "C" primary key references accounts on delete cascade,
      browser boolean not null default false,
      timing text not null default 'at_once' check (timing in ('at_once', 'daily')),
      hour smallint not null default 9 check (hour between 0 and 23),
      time_zone text not null default 'UTC',
      -- The last digest, or when the timing was set.
      digest_after bigint not null,
      -- When a worker looks at what waits; null while no channel is on.
      due_at bigint,
      -- A page with browser notifications is open until this time. The page renews it.
      page_open_until bigint not null default 0
    ) with (fillfactor = 70);
    create index notification_settings_due on notification_settings (due_at) where due_at is not null;

    create table notification_channels (
      account_id text collate "C" not null references notification_settings on delete cascade,
      kind text not null check (kind in ('email', 'webhook')),
      target text not null,
      -- Encrypted signing secret of a webhook.
      secret bytea,
      enabled boolean not null,
      -- SHA-256 of the token in the link that confirms an address.
      token_hash bytea,
      token_expires_at bigint,
      off_reason text check (off_reason in ('failing', 'gone', 'unsubscribed')),
      last_error text,
      failed_since bigint,
      last_sent_at bigint,
      primary key (account_id, kind),
      check ((token_hash is null) = (token_expires_at is null))
    );
    create unique index notification_channels_token on notification_channels (token_hash) where token_hash is not null;

    create table notification_items (
      account_id text collate "C" not null references notification_settings on delete cascade,
      item text collate "C" not null,
      agent_id text collate "C" not null references agents,
      -- When it was last seen to wait. Items that no longer wait are removed some time after.
      seen_at bigint not null,
      primary key (account_id, item)
    );
    create index notification_items_agent on notification_items (agent_id);
    create index notification_items_seen on notification_items (seen_at);

    create table notification_messages (
      id text collate "C" primary key,
      account_id text collate "C" not null,
      kind text not null,
      purpose text not null check (purpose in ('items', 'test', 'confirmation')),
      items text[] not null,
      -- The token of a confirmation, encrypted.
      token bytea,
      attempts integer not null default 0,
      -- When it is sent next; also the lease of the worker that sends it.
      next_at bigint not null,
      foreign key (account_id, kind) references notification_channels on delete cascade
    );
    create index notification_messages_channel on notification_messages (account_id, kind);
    create index notification_messages_next on notification_messages (next_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(
    'drop table notification_messages, notification_items, notification_channels, notification_settings',
  );
}
