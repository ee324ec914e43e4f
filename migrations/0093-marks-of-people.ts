import type { Knex } from 'knex';

/**
 * What a person has marked a conversation as: done until a later message, muted. A conversation without a row is neither. And the filters
 * that a person has saved: `[{name, query}]`. Invitations to organizations by link have a hash in place of an
 * account. The previous release shows all conversations as before, and no saved filters or invitations by link.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table thread_marks (
      account_id text collate "C" not null references accounts on delete cascade,
      thread_id text collate "C" not null references threads on delete cascade,
      -- The last message that the person had seen when the conversation was done. Null: it is not done.
      done_sequence integer,
      muted boolean not null default false,
      primary key (account_id, thread_id)
    );
    create index thread_marks_thread on thread_marks (thread_id);

    alter table accounts add column saved_views jsonb not null default '[]';

    alter table membership_invitations drop constraint membership_invitations_pkey;
    alter table membership_invitations
      add column number bigint generated always as identity primary key,
      alter column account_id drop not null,
      -- SHA-256 of the secret in the link.
      add column secret_hash bytea unique,
      add check ((account_id is null) <> (secret_hash is null)),
      add constraint membership_invitations_person unique (organization_id, account_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    delete from membership_invitations where account_id is null;
    alter table membership_invitations drop column number, drop column secret_hash,
      drop constraint membership_invitations_person;
    alter table membership_invitations add primary key (organization_id, account_id);
    alter table accounts drop column saved_views;
    drop table thread_marks;
  `);
}
