import type { Knex } from 'knex';

/** Whether one agent has asked another one is found in one step, however many others either of them has asked. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`create index contact_requests_pair on contact_requests (from_agent_id, to_agent_id)`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('drop index contact_requests_pair');
}
