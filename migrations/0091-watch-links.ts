import type { Knex } from 'knex';

/** Links through which people without an account watch a thread. The previous release does not show them, and ends none. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table watch_links (
      id text collate "C" primary key,
      thread_id text collate "C" not null references threads,
      -- The member for which the link was made: it shows what this member may read.
      agent_id text collate "C" not null references agents,
      -- The owner of that member then. Another owner did not agree to the link.
      owner_id text collate "C" not null references owners,
      account_id text collate "C" not null references accounts,
      secret_hash bytea not null unique,
      allows_files boolean not null,
      created_at bigint not null,
      expires_at bigint not null,
      -- When its members were told that it no longer shows the thread. It shows nothing after its expiry, even before this.
      ended_at bigint,
      views integer not null default 0,
      viewed_at bigint
    );
    create index watch_links_thread on watch_links (thread_id);
    create index watch_links_open on watch_links (thread_id) where ended_at is null;
    create index watch_links_ended on watch_links (ended_at);
    create index watch_links_agent on watch_links (agent_id);
    create index watch_links_owner on watch_links (owner_id);
    create index watch_links_account on watch_links (account_id);
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table watch_links');
}
