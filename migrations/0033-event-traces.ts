import type { Knex } from 'knex';

/** The trace of the cause of an event, where it was traced, so that its receivers can continue the trace. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table events add traceparent text collate "C"');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table events drop traceparent');
}
