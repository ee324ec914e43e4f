import type { Knex } from 'knex';

/** Invitations between installations: each connects one agent here with one agent of another installation. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table remote_agents add column bound_id text collate "C" references agents,
      drop constraint remote_agents_credential_kind_check,
      add constraint remote_agents_credential_kind_check
        check (credential_kind in ('none', 'bearer', 'client_credentials', 'invitation'));
    comment on column remote_agents.bound_id is 'The only agent here that it talks with; null: each one of its owner';

    create table remote_invitations (
      id text collate "C" primary key,
      agent_id text collate "C" not null references agents,
      secret_hash bytea not null unique,
      -- The account; null: an operator.
      created_by text collate "C",
      created_at bigint not null,
      expires_at bigint not null,
      redeemed_at bigint,
      -- SHA-256 of what the redeemer sent: only the same request gets the same answer.
      redeemer_hash bytea,
      remote_id text collate "C" references remote_agents on delete cascade,
      -- The token of the answer, encrypted.
      token bytea
    );
    create index remote_invitations_of_agent on remote_invitations (agent_id);
    create index remote_invitations_expiring on remote_invitations (expires_at);
    create index remote_invitations_of_remote on remote_invitations (remote_id);

    -- Threads that another installation has opened, by its name of the conversation. The name of every other one is the id of its thread.
    create table remote_conversations (
      agent_id text collate "C" not null references remote_agents on delete cascade,
      conversation text collate "C" not null,
      thread_id text collate "C" not null unique references remote_threads on delete cascade,
      primary key (agent_id, conversation)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    drop table remote_conversations, remote_invitations;
    delete from remote_agents where credential_kind = 'invitation';
    alter table remote_agents drop column bound_id,
      drop constraint remote_agents_credential_kind_check,
      add constraint remote_agents_credential_kind_check check (credential_kind in ('none', 'bearer', 'client_credentials'));
  `);
}
