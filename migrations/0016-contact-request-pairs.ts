import type { Knex } from 'knex';

/** An index by the pair of agents: the lookup of a request does not depend on the number of requests of either agent. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index contact_requests_pair on contact_requests (from_agent_id, to_agent_id)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index contact_requests_pair');
}
