import type { Knex } from 'knex';

/** Confidential clients of agents, access tokens, and other records of the authorization server. Secrets are stored as hashes. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table credentials (
      client_id text collate "C" primary key,
      agent_id text collate "C" not null references agents,
      name text not null default '',
      secret_hash bytea not null,
      scopes text[] not null,
      created_at bigint not null,
      revoked_at bigint
    );
    create index credentials_agent on credentials (agent_id);

    create table access_tokens (
      token_hash bytea primary key,
      agent_id text collate "C" not null references agents,
      client_id text collate "C" not null,
      grant_id text collate "C",
      resource text not null,
      scopes text[] not null,
      payload jsonb not null,
      created_at bigint not null,
      expires_at bigint not null
    );
    create index access_tokens_agent on access_tokens (agent_id);
    create index access_tokens_client on access_tokens (client_id);
    create index access_tokens_grant on access_tokens (grant_id) where grant_id is not null;
    create index access_tokens_expiry on access_tokens (expires_at);

    create table oauth_records (
      model text not null,
      id_hash bytea not null,
      grant_id text collate "C",
      payload jsonb not null,
      consumed_at bigint,
      expires_at bigint,
      primary key (model, id_hash)
    );
    create index oauth_records_grant on oauth_records (grant_id) where grant_id is not null;
    create index oauth_records_expiry on oauth_records (expires_at) where expires_at is not null;

    -- One row for each key pair; the private part is encrypted with SECRET_KEY.
    create table signing_keys (
      id text collate "C" primary key,
      encrypted_key bytea not null,
      created_at bigint not null
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table signing_keys, oauth_records, access_tokens, credentials');
}
