import type { Knex } from 'knex';

/** Requests of agents for approval by a person, with the decisions. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table approvals (
      id text collate "C" primary key,
      agent_id text collate "C" not null references agents,
      action text not null check (action in ('request_contact', 'remove_contact')),
      -- The handle of the agent concerned. Handles are never reused.
      target text collate "C" not null,
      message text not null,
      client_name text not null,
      state text not null check (state in ('pending', 'approved', 'denied', 'expired')),
      created_at bigint not null,
      expires_at bigint not null,
      decided_at bigint,
      decided_by text collate "C" references accounts,
      used_at bigint
    );
    -- At most one pending request for the same subject.
    create unique index approvals_pending on approvals (agent_id, action, target, message) where state = 'pending';
    create index approvals_agent on approvals (agent_id, id);
    create index approvals_expiry on approvals (expires_at);
    create index approvals_decided_by on approvals (decided_by) where decided_by is not null;
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table approvals');
}
