import type { Knex } from 'knex';

/** Of which trace an event is a part, where its cause was traced: so that whoever gets it can go on with the trace. */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table events add traceparent text collate "C"');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table events drop traceparent');
}
