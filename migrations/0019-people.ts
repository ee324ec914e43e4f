import type { Knex } from 'knex';

/** Tables for sign-in: browser sessions, invitations, and identities at external OpenID Connect providers. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- Only the hash of the session token is stored.
    create table sessions (
      id_hash bytea primary key,
      account_id text collate "C" not null references accounts,
      address text not null,
      user_agent text not null,
      created_at bigint not null,
      last_seen_at bigint not null,
      expires_at bigint not null
    );
    create index sessions_account on sessions (account_id, last_seen_at);
    create index sessions_expiry on sessions (expires_at);

    create table invitations (
      id text collate "C" primary key,
      code_hash bytea not null unique,
      uses integer not null,
      uses_left integer not null check (uses_left between 0 and uses),
      created_at bigint not null,
      expires_at bigint not null,
      revoked_at bigint
    );
    alter table accounts add column invitation_id text collate "C" references invitations;
    create index accounts_invitation on accounts (invitation_id) where invitation_id is not null;

    create table account_identities (
      issuer text collate "C" not null,
      subject text collate "C" not null,
      account_id text collate "C" not null references accounts,
      created_at bigint not null,
      primary key (issuer, subject)
    );
    create index account_identities_account on account_identities (account_id);

    -- A pending sign-in: the state of the request to the provider, then the identity that the provider confirmed, until the person chooses a name.
    create table external_sign_ins (
      id_hash bytea primary key,
      step jsonb not null,
      expires_at bigint not null
    );
    create index external_sign_ins_expiry on external_sign_ins (expires_at);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table external_sign_ins, account_identities, sessions;
    alter table accounts drop column invitation_id;
    drop table invitations;
  `);
}
