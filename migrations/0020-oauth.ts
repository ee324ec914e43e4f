import type { Knex } from 'knex';

/** Clients that registered dynamically, the grants of people to clients, and when each was last used. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table oauth_clients (
      client_id text collate "C" primary key,
      metadata jsonb not null,
      created_at bigint not null,
      last_used_at bigint
    );
    create index oauth_clients_age on oauth_clients (coalesce(last_used_at, created_at));

    -- A token of a grant is valid only while the row of the grant exists.
    create table client_grants (
      grant_id text collate "C" primary key,
      account_id text collate "C" not null references accounts,
      agent_id text collate "C" not null references agents,
      client_id text collate "C" not null,
      client_name text,
      redirect_host text not null,
      scopes text[] not null,
      created_at bigint not null,
      last_used_at bigint,
      expires_at bigint not null
    );
    create index client_grants_account on client_grants (account_id, created_at);
    create index client_grants_agent on client_grants (agent_id);
    create index client_grants_client on client_grants (client_id);
    create index client_grants_expiry on client_grants (expires_at);

    alter table credentials add column last_used_at bigint;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table credentials drop column last_used_at;
    drop table client_grants, oauth_clients;
  `);
}
