import type { Knex } from 'knex';

/**
 * Agents of one person are contacts without a row in `contacts`; this table has the pairs that are not, in both directions: one removed or
 * blocked the other. The previous release neither reads nor writes it: it lists such an agent only after a request.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    create table removed_contacts (
      agent_id text collate "C" not null references agents,
      contact_id text collate "C" not null references agents,
      primary key (agent_id, contact_id)
    );
    create index removed_contacts_contact on removed_contacts (contact_id);
  `);
  await knex.raw(`
    insert into removed_contacts (agent_id, contact_id)
    select pair.agent_id, pair.contact_id from blocks b
    join agents blocker on blocker.id = b.agent_id
    join agents blocked on blocked.id = b.blocked_agent_id
    cross join lateral (values (blocker.id, blocked.id), (blocked.id, blocker.id)) pair (agent_id, contact_id)
    where blocker.owner_id = blocked.owner_id and blocker.scope = 'personal'
    on conflict do nothing
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop table removed_contacts');
}
