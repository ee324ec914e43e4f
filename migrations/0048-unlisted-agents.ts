import type { Knex } from 'knex';

/**
 * The check is added without reading the table: every value that was allowed before is still allowed. Processes of the
 * previous release do not know the value: they fail where they would show an unlisted agent, so replace all of them before one is created.
 */
export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table agents drop constraint agents_visibility_check,
    add constraint agents_visibility_check check (visibility in ('private', 'unlisted', 'public')) not valid`);
}

export async function down(knex: Knex): Promise<void> {
  await knex.raw(`update agents set visibility = 'private' where visibility = 'unlisted'`);
  await knex.raw(`alter table agents drop constraint agents_visibility_check,
    add constraint agents_visibility_check check (visibility in ('private', 'public'))`);
}
