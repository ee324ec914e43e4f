import type { Knex } from 'knex';

/**
 * Where an export is in what is read before the conversations. The previous release reads all of it in one step: an export that both work on
 * can have records twice.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table agent_exports add column belonging text not null default '["agent"]'`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw('alter table agent_exports drop column belonging');
}
