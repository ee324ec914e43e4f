import type { Knex } from 'knex';

/** What the receiver answered to the last failed attempt, and how long the last attempt took. The previous release leaves both empty. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table webhook_deliveries
      add column last_duration_ms int,
      add column last_response text
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table webhook_deliveries drop column last_duration_ms, drop column last_response');
}
