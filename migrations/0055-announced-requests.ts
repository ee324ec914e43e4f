import type { Knex } from 'knex';

/**
 * Whether the addressee was told of a request; false while it blocks the sender. Processes of the previous release do not write the
 * column: their requests count as announced, so a request that they take from a blocked agent is not announced later.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table contact_requests add column announced boolean not null default true');
  await knex.raw(`update contact_requests q set announced = false from blocks b
    where q.status = 'pending' and b.agent_id = q.to_agent_id and b.blocked_agent_id = q.from_agent_id
      and q.created_at >= b.created_at`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table contact_requests drop column announced');
}
