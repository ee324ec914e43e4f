import type { Knex } from 'knex';

/**
 * Subscriptions of MCP clients to events, delivered to a URL. A subscription reads its agent's feed in order: `position` is the number of the
 * last entry that was delivered or left out, so everything after it is still to come. `next_at` is also the lease of the worker that sends.
 * The previous release ignores the table; its workers fail the jobs, and the sweep of this release enqueues them again.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table event_subscriptions (
      id text collate "C" primary key,
      agent_id text collate "C" not null references agents,
      client_id text not null,
      grant_id text,
      -- SHA-256 of the token, if nothing else ends the access: it has no grant, and its client no credential.
      token_hash bytea,
      url text not null,
      event_type text not null,
      arguments jsonb not null,
      scopes text[] not null,
      dialect text not null check (dialect in ('sketch', 'sep3415')),
      -- Encrypted, like the previous secret, which also signs for some time.
      secret bytea not null,
      previous_secret bytea,
      previous_secret_until bigint,
      position bigint not null,
      -- Older events are left out.
      oldest_at bigint not null,
      has_gap boolean not null default false,
      active boolean not null default true,
      attempts int not null default 0,
      next_at bigint not null,
      last_delivery_at bigint,
      last_error text,
      failed_since bigint,
      hold_ms int not null,
      last_call_at bigint,
      -- How often the client has renewed it. A worker neither ends nor pauses a subscription that was renewed after it looked.
      renewals int not null default 0,
      expires_at bigint not null,
      created_at bigint not null,
      check ((previous_secret is null) = (previous_secret_until is null))
    ) with (fillfactor = 50);
    create index event_subscriptions_agent on event_subscriptions (agent_id, client_id);
    create index event_subscriptions_next on event_subscriptions (next_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table event_subscriptions');
}
