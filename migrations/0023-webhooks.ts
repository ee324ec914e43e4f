import type { Knex } from 'knex';

/**
 * Webhooks and their deliveries. A webhook reads its agent's feed; `noted_number` is the last number that it has read. The row changes
 * with every batch of events, so its pages have free space. Deliveries have no foreign keys: they are a log that is removed by age.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table webhooks (
      id text collate "C" primary key,
      agent_id text collate "C" not null references agents,
      url text not null,
      description text not null,
      -- Null: all types that the scopes allow.
      event_types text[],
      -- The scopes of the token that created the webhook.
      scopes text[] not null,
      only_when_offline boolean not null,
      enabled boolean not null default true,
      disabled_reason text check (disabled_reason in ('by_request', 'gone', 'failing')),
      disabled_at bigint,
      -- Encrypted, like the previous secret, which also signs for some time.
      secret bytea not null,
      previous_secret bytea,
      previous_secret_until bigint,
      noted_number bigint not null,
      created_at bigint not null,
      updated_at bigint not null,
      check (enabled = (disabled_reason is null)),
      check ((previous_secret is null) = (previous_secret_until is null))
    ) with (fillfactor = 50);
    create index webhooks_agent on webhooks (agent_id, id);

    create table webhook_deliveries (
      webhook_id text collate "C" not null,
      event_id text collate "C" not null,
      event_type text not null,
      -- The number of the event in the feed of the webhook's agent.
      number bigint not null,
      state text not null check (state in ('pending', 'delivered', 'failed', 'skipped')),
      attempts int not null default 0,
      next_at bigint,
      last_attempt_at bigint,
      last_status int,
      last_error text,
      created_at bigint not null,
      primary key (webhook_id, event_id),
      check ((state = 'pending') = (next_at is not null))
    );
    create index webhook_deliveries_due on webhook_deliveries (next_at) where state = 'pending';
    create index webhook_deliveries_next on webhook_deliveries (webhook_id, next_at) where state = 'pending';
    create index webhook_deliveries_state on webhook_deliveries (webhook_id, state, event_id);
    create index webhook_deliveries_age on webhook_deliveries (created_at) where state <> 'pending';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table webhook_deliveries, webhooks');
}
