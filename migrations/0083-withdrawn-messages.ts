import type { Knex } from 'knex';

/**
 * Messages that their sender withdrew or replaced, and inbox items of them whose lease has not ended. Columns without a constraint neither
 * rewrite nor scan a table. The previous release shows a withdrawn message as an empty one, and its claims return it.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table messages add column withdrawn_at bigint, add column replaced_by text collate "C", add column replaces text collate "C";
    alter table inbox_items add column is_obsolete boolean not null default false;
    comment on column inbox_items.is_obsolete is 'Its message was withdrawn or replaced during a lease: no claim returns it again';
  `);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`
    alter table messages drop column withdrawn_at, drop column replaced_by, drop column replaces;
    alter table inbox_items drop column is_obsolete;
  `);
}
