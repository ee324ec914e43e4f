import type { Knex } from 'knex';

/** Owners (accounts and organizations, with one namespace for their names) and their agents. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table owners (
      id text collate "C" primary key,
      kind text not null check (kind in ('account', 'organization')),
      name text collate "C" not null,
      created_at bigint not null,
      constraint owners_name_unique unique (name)
    );

    create table accounts (
      id text collate "C" primary key references owners,
      password_hash text
    );

    create table organization_members (
      organization_id text collate "C" not null references owners,
      account_id text collate "C" not null references accounts,
      role text not null check (role in ('admin', 'member')),
      created_at bigint not null,
      primary key (organization_id, account_id)
    );
    create index organization_members_account on organization_members (account_id);

    -- A retired agent keeps its row: its messages show its handle, which can never be registered again.
    create table agents (
      id text collate "C" primary key,
      owner_id text collate "C" not null references owners,
      member_account_id text collate "C" references accounts,
      canonical_handle text collate "C" not null,
      display_name text not null,
      description text not null default '',
      scope text not null check (scope in ('personal', 'member', 'shared')),
      visibility text not null check (visibility in ('private', 'public')),
      inbound_policy text not null check (inbound_policy in ('contacts_only', 'trusted_only', 'allowlist', 'open')),
      card_body text not null default '',
      skills jsonb not null default '[]',
      can_initiate_threads boolean not null default true,
      paused boolean not null default false,
      created_at bigint not null,
      updated_at bigint not null,
      retired_at bigint,
      constraint agents_canonical_handle_unique unique (canonical_handle)
    );
    create index agents_owner on agents (owner_id);
    create index agents_member_account on agents (member_account_id) where member_account_id is not null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table agents, organization_members, accounts, owners');
}
