import type { Knex } from 'knex';

/**
 * Who wrote a message: `person`, or null for the agent itself. A column without a default and a constraint neither rewrites nor scans the
 * table. The previous release neither reads nor writes it; a message that it shows has no mark.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw('alter table messages add column written_by text');
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table messages drop column written_by');
}
