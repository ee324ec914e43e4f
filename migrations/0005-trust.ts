import type { Knex } from 'knex';

/** Contacts, requests, blocks and allowlists. A contact has a row per direction; blocks and allowlist entries belong to the agent that made them. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table contacts (
      agent_id text collate "C" not null references agents,
      contact_id text collate "C" not null references agents,
      favorite boolean not null default false,
      since bigint not null,
      primary key (agent_id, contact_id)
    );
    create index contacts_contact on contacts (contact_id);

    create table contact_requests (
      id text collate "C" primary key,
      from_agent_id text collate "C" not null references agents,
      to_agent_id text collate "C" not null references agents,
      message text,
      status text not null check (status in ('pending', 'approved', 'rejected')),
      created_at bigint not null,
      decided_at bigint
    );
    create unique index contact_requests_pending_unique on contact_requests (from_agent_id, to_agent_id)
      where status = 'pending';
    create index contact_requests_from on contact_requests (from_agent_id, created_at);
    create index contact_requests_to on contact_requests (to_agent_id, created_at);

    create table blocks (
      agent_id text collate "C" not null references agents,
      blocked_agent_id text collate "C" not null references agents,
      created_at bigint not null,
      primary key (agent_id, blocked_agent_id)
    );
    create index blocks_blocked on blocks (blocked_agent_id);

    -- An entry names one agent, or every agent of one owner.
    create table allowlist_entries (
      agent_id text collate "C" not null references agents,
      entry text collate "C" not null,
      created_at bigint not null,
      primary key (agent_id, entry)
    );
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table allowlist_entries, blocks, contact_requests, contacts');
}
